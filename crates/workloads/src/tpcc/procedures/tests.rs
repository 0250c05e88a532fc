//! The texts of the procedures, and a runner whose procedures answer what a test wants.

use drivers::{Done, Param, Row, Session, SessionInfo, StatementId, Value};
use model::{PaymentOrder, Rng, StockLevel as Shape, TpccProfile};

use super::*;
use crate::tpcc::input::tests::fixture::spec;
use crate::tpcc::input::{Committed, Outcome, Progress};
use crate::tpcc::input::{Input, Inputs};
use crate::tpcc::random::Constants;

/// All specs that make other procedures.
fn specs() -> Vec<TpccSpec> {
    let mut specs = Vec::new();
    for profile in [TpccProfile::Standard, TpccProfile::Percona] {
        for payment_order in [PaymentOrder::Warehouse, PaymentOrder::District] {
            for stock_level in [Shape::Join, Shape::Loop] {
                specs.push(TpccSpec { profile, payment_order, stock_level, ..spec(1) });
            }
        }
    }
    specs
}

/// The text that makes a procedure.
fn text(texts: &[String], transaction: TpccTransaction) -> &str {
    let begins = format!("{}(", procedure(transaction));
    let found = texts.iter().find(|text| text.contains(&begins));
    found.unwrap()
}

#[test]
fn a_procedure_is_called_with_as_many_values_as_it_takes() {
    for dialect in [Dialect::Mysql, Dialect::Postgres] {
        for spec in specs() {
            let texts = create(&spec, dialect);
            for transaction in TpccTransaction::ALL {
                let text = text(&texts, transaction);
                let head = text.split("BEGIN").next().unwrap();
                let head = head.split("DECLARE").next().unwrap();
                let head = head.split(['(', ',']).map(str::trim);
                let taken = head.filter(|part| part.starts_with("p_")).count();
                assert_eq!(taken, types(transaction, dialect).len(), "{text}");
            }
        }
    }
}

#[test]
fn nothing_is_left_to_be_filled_in() {
    for dialect in [Dialect::Mysql, Dialect::Postgres] {
        for spec in specs() {
            for text in create(&spec, dialect) {
                assert!(!text.contains(['{', '}', '\t', '?']), "{text}");
            }
        }
    }
    assert!(create(&spec(1), Dialect::Sqlite).is_empty());
}

#[test]
fn profiles_and_options_are_in_the_texts() {
    for dialect in [Dialect::Mysql, Dialect::Postgres] {
        for spec in specs() {
            let texts = create(&spec, dialect);
            let is_standard = spec.profile == TpccProfile::Standard;
            let order = text(&texts, TpccTransaction::NewOrder);
            assert_eq!(order.contains("s_ytd = s_ytd +"), is_standard);
            assert_eq!(order.contains("ROUND(v_ordered * v_price"), !is_standard);
            let payment = text(&texts, TpccTransaction::Payment);
            assert_eq!(payment.contains("c_payment_cnt"), is_standard);
            let place = |table| payment.find(&format!("UPDATE {table} SET")).unwrap();
            let last = place("warehouse") > place("customer");
            assert_eq!(last, spec.payment_order == PaymentOrder::District);
            let level = text(&texts, TpccTransaction::StockLevel);
            assert_eq!(level.contains("LOOP"), spec.stock_level == Shape::Loop);
        }
    }
}

#[test]
fn procedures_can_be_made_again() {
    let texts = create(&spec(1), Dialect::Mysql);
    assert_eq!(texts[0], "DROP PROCEDURE IF EXISTS tpcc_new_order");
    assert!(texts[1].starts_with("CREATE PROCEDURE tpcc_new_order(p_w INT"));
    assert_eq!(texts.len(), 10);
    let texts = create(&spec(1), Dialect::Postgres);
    assert!(texts[0].starts_with("CREATE OR REPLACE FUNCTION tpcc_new_order(p_w INT"));
    assert_eq!(texts.len(), 5);
}

#[test]
fn calls_have_the_placeholders_of_the_dialect() {
    let call = |dialect| {
        let transaction = TpccTransaction::OrderStatus;
        call(transaction, &types(transaction, dialect), dialect)
    };
    assert_eq!(call(Dialect::Mysql).unwrap(), "CALL tpcc_order_status(?, ?, ?, ?)");
    assert_eq!(
        call(Dialect::Postgres).unwrap(),
        "SELECT * FROM tpcc_order_status($1::INT, $2::INT, $3::INT, $4)"
    );
    assert!(call(Dialect::Sqlite).is_err());
}

/// A server whose procedures answer with these rows, or with an error.
struct Canned {
    rows: Vec<Vec<Value<'static>>>,
    error: Option<&'static str>,
    sent: Vec<String>,
    info: SessionInfo,
}

struct Columns<'a>(&'a [Value<'static>]);

impl Row for Columns<'_> {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn value(&self, column: usize) -> Value<'_> {
        self.0.get(column).copied().unwrap_or(Value::Null)
    }
}

impl Canned {
    fn new(rows: Vec<Vec<Value<'static>>>) -> Self {
        Self { rows, error: None, sent: Vec::new(), info: SessionInfo::default() }
    }

    fn failing(code: &'static str) -> Self {
        Self { error: Some(code), ..Self::new(Vec::new()) }
    }
}

impl Session for Canned {
    fn query(&mut self, sql: &str, _: &mut dyn FnMut(&dyn Row)) -> Result<Done, SessionError> {
        self.sent.push(sql.to_owned());
        Ok(Done::default())
    }

    fn prepare(&mut self, _: &str, _: &[ParamType]) -> Result<StatementId, SessionError> {
        Ok(StatementId(0))
    }

    fn execute_prepared(
        &mut self,
        _: StatementId,
        params: &[Param<'_>],
        each: &mut dyn FnMut(&dyn Row),
    ) -> Result<Done, SessionError> {
        let values: Vec<String> = params.iter().map(|param| format!("{param:?}")).collect();
        self.sent.push(values.join(" "));
        if let Some(code) = self.error {
            return Err(SessionError::Server {
                code: code.to_owned(),
                state: Box::default(),
                message: "no".to_owned(),
                statement: String::new(),
            });
        }
        for row in &self.rows {
            each(&Columns(row));
        }
        Ok(Done { rows: self.rows.len() as u64, affected: 0, columns: 1 })
    }

    fn info(&self) -> &SessionInfo {
        &self.info
    }
}

fn input(transaction: TpccTransaction, wanted: impl Fn(&Input) -> bool) -> Input {
    let mut inputs = Inputs::new(&spec(1), Constants::of_load(1), 0, Rng::new(7));
    loop {
        let input = inputs.draw(transaction);
        if wanted(&input) {
            return input;
        }
    }
}

fn order(rolls_back: bool) -> Input {
    input(
        TpccTransaction::NewOrder,
        |input| matches!(input, Input::NewOrder(order) if order.rolls_back == rolls_back),
    )
}

fn run(
    session: &mut Canned,
    dialect: Dialect,
    by_district: bool,
    input: &Input,
) -> Result<Outcome, SessionError> {
    let spec = TpccSpec { delivery_by_district: by_district, ..spec(1) };
    let mut runner = ProcedureRunner::prepare(session, &spec, dialect).unwrap();
    runner.run(session, input, &mut Progress::default())
}

const SERVERS: [Dialect; 2] = [Dialect::Mysql, Dialect::Postgres];

#[test]
fn an_order_is_entered_or_rolled_back() {
    let row =
        |rolled_back| vec![vec![Value::Int(3001), Value::Int(rolled_back), Value::Bytes(b"1.50")]];
    for dialect in SERVERS {
        let mut session = Canned::new(row(0));
        let outcome = run(&mut session, dialect, false, &order(false)).unwrap();
        assert!(!outcome.rolled_back && outcome.wrong.is_none());
        let entered = outcome.committed.unwrap();
        assert!(matches!(entered, Committed::Order { order: 3001, .. }));
        assert_eq!(session.sent.len(), 1);

        let mut session = Canned::new(row(1));
        let outcome = run(&mut session, dialect, false, &order(true)).unwrap();
        assert!(outcome.rolled_back && outcome.committed.is_none() && outcome.wrong.is_none());
        // A function cannot do that.
        let frame = |sent: &str| session.sent.iter().filter(|text| *text == sent).count();
        let wanted = usize::from(dialect == Dialect::Postgres);
        assert_eq!([frame("BEGIN"), frame("ROLLBACK")], [wanted, wanted]);

        for (answered, asked) in [(1, false), (0, true)] {
            let mut session = Canned::new(row(answered));
            let outcome = run(&mut session, dialect, false, &order(asked)).unwrap();
            assert!(outcome.wrong.is_some() && outcome.committed.is_none());
        }
    }
}

#[test]
fn what_a_procedure_misses_is_a_wrong_answer_and_what_a_server_refuses_is_an_error() {
    for (dialect, own, server) in
        [(Dialect::Mysql, "1644", "1213"), (Dialect::Postgres, "P0001", "40001")]
    {
        for transaction in TpccTransaction::ALL {
            let input = input(transaction, |_| true);
            let outcome = run(&mut Canned::failing(own), dialect, false, &input).unwrap();
            assert!(outcome.wrong.is_some() && outcome.committed.is_none());
            let mut session = Canned::failing(server);
            let error = run(&mut session, dialect, false, &input).unwrap_err();
            assert_eq!(error.code(), server);
            // Nothing, NULL, and what is no number.
            for rows in [vec![], vec![vec![Value::Null; 9]], vec![vec![Value::Bytes(b"x"); 9]]] {
                let mut session = Canned::new(rows.clone());
                let outcome = run(&mut session, dialect, false, &input).unwrap();
                assert!(outcome.wrong.is_some(), "{input:?} {rows:?}");
            }
        }
    }
}

#[test]
fn a_rollback_follows_an_error_too() {
    let mut session = Canned::failing("40P01");
    run(&mut session, Dialect::Postgres, false, &order(true)).unwrap_err();
    assert_eq!(session.sent.last().unwrap(), "ROLLBACK");
}

#[test]
fn a_delivery_is_one_call_or_one_for_each_district() {
    let input = input(TpccTransaction::Delivery, |_| true);
    for dialect in SERVERS {
        let mut session = Canned::new(vec![vec![Value::Int(7), Value::Int(3)]]);
        let outcome = run(&mut session, dialect, false, &input).unwrap();
        assert_eq!((outcome.skipped, outcome.wrong), (3, None));
        assert_eq!(session.sent.len(), 1);
        let mut session = Canned::new(vec![vec![Value::Int(0), Value::Int(1)]]);
        let outcome = run(&mut session, dialect, true, &input).unwrap();
        assert_eq!((outcome.skipped, outcome.wrong), (10, None));
        assert_eq!(session.sent.len(), 10);
        assert!(session.sent[9].starts_with("Int(1) Int(10) Int(10) Int("));
        // Two of one district.
        let mut session = Canned::new(vec![vec![Value::Int(2), Value::Int(0)]]);
        let outcome = run(&mut session, dialect, true, &input).unwrap();
        assert!(outcome.wrong.is_some());
        assert_eq!(session.sent.len(), 1);
    }
}

#[test]
fn an_order_has_all_of_its_lines() {
    let status = input(TpccTransaction::OrderStatus, |_| true);
    let line = |count| {
        let mut line = vec![Value::Int(1); 12];
        line[2] = Value::Int(count);
        // Not delivered yet.
        (line[6], line[11]) = (Value::Null, Value::Null);
        line
    };
    for dialect in SERVERS {
        let mut session = Canned::new(vec![line(5); 5]);
        let outcome = run(&mut session, dialect, false, &status).unwrap();
        assert_eq!((outcome.rows, outcome.wrong), (5, None));
        let mut session = Canned::new(vec![line(6); 5]);
        let outcome = run(&mut session, dialect, false, &status).unwrap();
        assert_eq!(outcome.wrong.unwrap(), "order 1 has 6 lines, and 5 were found");
    }
}

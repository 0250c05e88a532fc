//! The statements that are always of the same length.

use serde::Deserialize;

/// A statement that is always of the same length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub(crate) enum Ask {
    Begin,
    BeginReading,
    Commit,
    Terms,
    NextOrder,
    TakeOrder,
    AddOrder,
    AddNewOrder,
    Item,
    Stock,
    TakeStock,
    AddLine,
    PayWarehouse,
    Warehouse,
    PayDistrict,
    District,
    CountNamed,
    Named,
    Payer,
    PayerData,
    Pay,
    PayBadly,
    AddHistory,
    NamedBalances,
    Balance,
    NewestOrder,
    Lines,
    Oldest,
    Dequeue,
    Orderer,
    SetCarrier,
    SetDelivered,
    SumLines,
    Charge,
    RecentOrders,
    LowJoined,
    RecentItems,
    Low,
}

/// How many there are.
pub(super) const ASKS: usize = Ask::Low as usize + 1;

impl Ask {
    /// Its place in the statements.
    pub(crate) const fn place(self) -> usize {
        self as usize
    }
}

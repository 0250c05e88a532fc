// Asks axe-core about reports; called by check.sh: `check.mjs CHROMIUM AXE.js REPORT.html...`.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { setTimeout as pause } from 'node:timers/promises';

import { Browser } from './browser.mjs';

const WIDTHS = [400, 1280, 1600];
const SCHEMES = ['light', 'dark'];
// The gravest first.
const IMPACTS = ['critical', 'serious', 'moderate', 'minor'];
const GRAVE = new Set(['critical', 'serious']);
const MOST_NODES = 5;

// Milliseconds after loading within which a report's own scripts finish.
const SETTLE = 500;

// Folded parts belong to the report too; axe-core checks only visible parts.
const UNFOLD = "for (const one of document.querySelectorAll('details')) one.open = true;";
const LOADED =
    "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))";
// Without `preload`, which would be axe-core's own request for style sheets.
const ASK = `axe.run(document, { preload: false }).then(({ violations, incomplete }) => ({
    violations,
    unclear: incomplete.map(({ id, nodes }) => [id, nodes.length]),
}))`;

// What a person can act on, by the ways that HTML gives; of a group of radio buttons, Tab reaches one.
const ACTIVE = 'a[href], button, input:not([type=radio]), select, textarea, summary, [tabindex]:not([tabindex="-1"])';
const LIST_ACTIVE = `window.unreached = new Set([...document.querySelectorAll('${ACTIVE}')].filter(
    (one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && !one.closest('dialog:not([open])')));
window.unseen = new Set();
window.unreached.size`;
// Takes the focused element off the list; false at the end of the page.
const REACH = `(() => {
    const one = document.activeElement;
    if (!one || one === document.body) return false;
    const style = getComputedStyle(one);
    if (style.outlineStyle === 'none' && style.boxShadow === 'none') unseen.add(one);
    unreached.delete(one);
    return true;
})()`;
const LEFT = `(() => {
    const said = (one) => one.outerHTML.slice(0, 120).replace(/\\s+/g, ' ');
    return { unreached: [...unreached].map(said), unseen: [...unseen].map(said) };
})()`;

// Walks through a page by the Tab key: what it does not reach, and where the focus cannot be seen.
async function walk(page) {
    const most = 2 * (await page.evaluate(LIST_ACTIVE)) + 10;
    await page.evaluate('document.body.tabIndex = -1; document.body.focus(); document.body.blur();');
    const tab = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 };
    for (let pressed = 0; pressed < most; pressed += 1) {
        await page.ask('Input.dispatchKeyEvent', { type: 'rawKeyDown', ...tab });
        await page.ask('Input.dispatchKeyEvent', { type: 'keyUp', ...tab });
        if (!(await page.evaluate(REACH))) break;
    }
    const { unreached, unseen } = await page.evaluate(LEFT);
    return [
        ...unreached.map((one) => `Tab does not reach ${one}`),
        ...unseen.map((one) => `the focus is not seen on ${one}`),
    ];
}

// One look at a report: what axe-core found, and what the report did that it should not. The order of Tab does not
// depend on colours.
async function look(browser, axe, report, width, scheme) {
    const url = pathToFileURL(report).href;
    const page = await browser.page();
    const faults = [];
    page.listen((event, about) => {
        const fault = faultIn(event, about, url);
        if (fault) faults.push(fault);
    });
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.ask(`${domain}.enable`);
    await page.ask('Emulation.setDeviceMetricsOverride', {
        width,
        height: 1000,
        deviceScaleFactor: 1,
        mobile: false,
    });
    await page.ask('Emulation.setEmulatedMedia', {
        features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    const { errorText } = await page.ask('Page.navigate', { url });
    if (errorText) throw new Error(`cannot open ${report}: ${errorText}`);
    await page.evaluate(LOADED);
    await page.evaluate(UNFOLD);
    await pause(SETTLE);
    await page.evaluate(`${axe}\n;undefined`);
    const found = await page.evaluate(ASK);
    if (scheme === SCHEMES[0]) faults.push(...(await walk(page)));
    await page.close();
    return { ...found, faults };
}

// The fault that an event reports, if any.
function faultIn(event, about, url) {
    switch (event) {
        case 'Runtime.consoleAPICalled': {
            const words = about.args.map((arg) => arg.value ?? arg.description ?? arg.type);
            return `console.${about.type}: ${words.join(' ')}`;
        }
        case 'Runtime.exceptionThrown': {
            const { exception, text } = about.exceptionDetails;
            return `exception: ${exception?.description ?? text}`;
        }
        case 'Log.entryAdded':
            return `${about.entry.source} ${about.entry.level}: ${about.entry.text}`;
        case 'Network.requestWillBeSent': {
            const asked = about.request.url;
            const isOwn = asked === url || /^(data|blob|about):/.test(asked);
            return isOwn ? undefined : `request: ${asked}`;
        }
        default:
            return undefined;
    }
}

// Prints a look; is anything grave in it?
function print(title, { violations, unclear, faults }) {
    const counts = IMPACTS.map((impact) => [impact, violations.filter((one) => one.impact === impact)]);
    const said = counts.filter(([, all]) => all.length > 0).map(([impact, all]) => `${all.length} ${impact}`);
    console.log(`${title}: ${said.join(', ') || 'no violation'}`);
    for (const violation of counts.flatMap(([, all]) => all)) {
        console.log(`  ${violation.impact}: ${violation.id}: ${violation.help} (${violation.helpUrl})`);
        for (const node of violation.nodes.slice(0, MOST_NODES)) {
            console.log(`    ${node.target.join(' ')}`);
            for (const line of node.failureSummary.split('\n')) console.log(`      ${line.trim()}`);
        }
        const more = violation.nodes.length - MOST_NODES;
        if (more > 0) console.log(`    and ${more} more`);
    }
    for (const fault of faults) console.log(`  ${fault}`);
    if (unclear.length > 0) {
        const words = unclear.map(([id, nodes]) => `${id} (${nodes})`);
        console.log(`  for a person to judge: ${words.join(', ')}`);
    }
    return faults.length > 0 || violations.some((one) => GRAVE.has(one.impact));
}

async function main([program, axeFile, ...reports]) {
    const axe = readFileSync(axeFile, 'utf8');
    const browser = new Browser(program);
    let isGrave = false;
    try {
        for (const report of reports) {
            for (const width of WIDTHS) {
                for (const scheme of SCHEMES) {
                    const found = await look(browser, axe, report, width, scheme);
                    isGrave = print(`${report}, ${width} px, ${scheme}`, found) || isGrave;
                }
            }
        }
    } finally {
        await browser.close();
    }
    return isGrave ? 1 : 0;
}

try {
    process.exitCode = await main(process.argv.slice(2));
} catch (error) {
    console.error(`check.mjs: ${error.message}`);
    process.exitCode = 2;
}

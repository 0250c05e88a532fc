// A headless Chromium, asked by the DevTools protocol over a pipe: file descriptor 3 takes requests, 4 yields
// answers and events, each a JSON text that ends in a zero byte. So nothing has to be installed for it, and no
// port is open.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// The longest wait for an answer, in milliseconds: axe-core takes a while over thousands of cells.
const PATIENCE = 300_000;
// The longest wait for the browser to end by itself.
const PATIENCE_AT_END = 10_000;
// The kept part of its stderr, in characters.
const SAID = 2_000;

const FLAGS = [
    '--headless=new',
    '--remote-debugging-pipe',
    '--no-first-run',
    '--disable-gpu',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-dev-shm-usage',
    '--hide-scrollbars',
];

export class Browser {
    #next = 0;
    #waiting = new Map();
    #pages = new Map();
    #said = '';
    #ended;

    constructor(program) {
        this.profile = mkdtempSync(join(tmpdir(), 'backslide-accessibility-'));
        const flags = [...FLAGS, `--user-data-dir=${this.profile}`];
        // Chromium's sandbox refuses root.
        if (process.getuid() === 0) flags.push('--no-sandbox');
        this.process = spawn(program, flags, { stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] });
        const [, , said, requests, answers] = this.process.stdio;
        this.requests = requests;
        // If a request cannot be written, the end of the process explains it.
        requests.on('error', () => {});
        said.setEncoding('utf8');
        said.on('data', (text) => {
            this.#said = (this.#said + text).slice(-SAID);
        });
        this.end = new Promise((done) => {
            const end = (why) => {
                this.#ended = why;
                for (const { reject } of this.#waiting.values()) reject(new Error(why));
                done();
            };
            this.process.on('error', (error) => end(`cannot start ${program}: ${error.message}`));
            this.process.on('close', () => end(`${program} ended: ${this.#said}`));
        });
        this.#listen(answers);
    }

    #listen(answers) {
        let rest = Buffer.alloc(0);
        answers.on('data', (chunk) => {
            rest = Buffer.concat([rest, chunk]);
            for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
                this.#hear(JSON.parse(rest.subarray(0, end).toString('utf8')));
                rest = rest.subarray(end + 1);
            }
        });
    }

    #hear({ id, method, params, result, error, sessionId }) {
        if (id === undefined) {
            this.#pages.get(sessionId)?.(method, params);
            return;
        }
        const waiting = this.#waiting.get(id);
        if (error) waiting?.reject(new Error(`${waiting.method}: ${error.message}`));
        else waiting?.resolve(result);
    }

    // The answer to a request, to the browser or to one of its pages.
    async ask(method, params = {}, sessionId = undefined) {
        if (this.#ended !== undefined) throw new Error(this.#ended);
        this.#next += 1;
        const id = this.#next;
        let timer;
        const answer = new Promise((resolve, reject) => {
            const late = () => reject(new Error(`no answer to ${method} in ${PATIENCE / 1000} s`));
            timer = setTimeout(late, PATIENCE);
            this.#waiting.set(id, { method, resolve, reject });
        });
        this.requests.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
        try {
            return await answer;
        } finally {
            clearTimeout(timer);
            this.#waiting.delete(id);
        }
    }

    // A new page.
    async page() {
        const { targetId } = await this.ask('Target.createTarget', { url: 'about:blank' });
        const { sessionId } = await this.ask('Target.attachToTarget', { targetId, flatten: true });
        const ask = (method, params) => this.ask(method, params, sessionId);
        return {
            ask,
            // Calls back with the name and the contents of each event of the page.
            listen: (heard) => this.#pages.set(sessionId, heard),
            // The value of an expression in the page, or of its promise.
            evaluate: async (expression) => {
                const { result, exceptionDetails } = await ask('Runtime.evaluate', {
                    expression,
                    awaitPromise: true,
                    returnByValue: true,
                });
                if (exceptionDetails) {
                    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
                }
                return result.value;
            },
            close: async () => {
                this.#pages.delete(sessionId);
                await this.ask('Target.closeTarget', { targetId });
            },
        };
    }

    // Ends the browser and removes its files.
    async close() {
        const timer = setTimeout(() => this.process.kill('SIGKILL'), PATIENCE_AT_END);
        // It may end before it answers.
        await this.ask('Browser.close').catch(() => {});
        await this.end;
        clearTimeout(timer);
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 });
    }
}

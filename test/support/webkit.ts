import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { freePort } from './free-port.ts';
import { isInstalled, killAll, openScreen } from './screen.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';
import { waitUntil } from './wait-until.ts';

const browsers = ['4.1', '4.0'].flatMap(version => [
  `/usr/lib/x86_64-linux-gnu/webkit2gtk-${version}/MiniBrowser`,
  `/usr/lib/aarch64-linux-gnu/webkit2gtk-${version}/MiniBrowser`,
]);
const browser = browsers.find(existsSync);
const decoders = ['x86_64', 'aarch64'].map(cpu => `/usr/lib/${cpu}-linux-gnu/gstreamer-1.0/libgstlibav.so`);

/** Undefined where it is installed. */
export const missingWebKit = !isInstalled('WebKitWebDriver')
  ? 'WebKitWebDriver is not installed (Debian: webkit2gtk-driver)'
  : browser === undefined
    ? 'MiniBrowser of WebKitGTK is not installed (Debian: libwebkit2gtk-4.1-0)'
    : !decoders.some(existsSync)
      ? 'the decoders of GStreamer are not installed (Debian: gstreamer1.0-libav)'
      : isInstalled('Xvfb')
        ? undefined
        : 'Xvfb is not installed';

/** One page of WebKitGTK on a screen of its own, driven with WebDriver. */
export class WebKitPage {
  readonly #processes: readonly ChildProcess[];
  readonly #home: string;
  readonly #session: string;

  private constructor(processes: readonly ChildProcess[], home: string, session: string) {
    this.#processes = processes;
    this.#home = home;
    this.#session = session;
  }

  static async launch(): Promise<WebKitPage> {
    const home = await makeTempDir();
    const processes: ChildProcess[] = [];
    try {
      const screen = await openScreen();
      processes.push(screen.process);
      const port = await freePort();
      const driver = spawn('WebKitWebDriver', [`--port=${port}`], {
        stdio: 'ignore',
        env: {
          PATH: process.env.PATH,
          HOME: home,
          XDG_RUNTIME_DIR: home,
          DISPLAY: screen.display,
          LC_ALL: 'C.UTF-8',
        },
      });
      processes.push(driver);
      const address = `http://127.0.0.1:${port}`;
      await waitUntil(async () => (await fetch(`${address}/status`)).ok, { what: 'WebKitWebDriver' });
      const options = { binary: browser, args: ['--automation'] };
      const { sessionId } = await call<{ sessionId: string }>(`${address}/session`, {
        capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
      });
      return new WebKitPage(processes, home, `${address}/session/${sessionId}`);
    } catch (error) {
      await end(processes, home);
      throw error;
    }
  }

  goto(url: string): Promise<unknown> {
    return call(`${this.#session}/url`, { url });
  }

  /** @param expression whose value can be written as JSON, or a promise of one */
  evaluate<Result>(expression: string): Promise<Result> {
    const script = `const done = arguments[0]; Promise.resolve(${expression}).then(done)`;
    return call<Result>(`${this.#session}/execute/async`, { script, args: [] });
  }

  async close(): Promise<void> {
    await fetch(this.#session, { method: 'DELETE' }).catch(() => {});
    await end(this.#processes, this.#home);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

async function call<Result>(address: string, body: object): Promise<Result> {
  const response = await fetch(address, { method: 'POST', body: JSON.stringify(body) });
  const { value } = (await response.json()) as { value: Result & { message?: string } };
  if (!response.ok) throw new Error(`${address}: ${value.message}`);
  return value;
}

async function end(processes: readonly ChildProcess[], home: string): Promise<void> {
  await killAll(processes);
  await removeDir(home);
}

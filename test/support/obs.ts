import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import WebSocket from 'ws';
import { freePort } from './free-port.ts';
import { isInstalled, killAll, openScreen } from './screen.ts';
import { makeTempDir, removeDir } from './temp-dir.ts';
import { waitUntil } from './wait-until.ts';

/** Undefined where it is installed. */
export const missingObs = !isInstalled('obs')
  ? 'OBS is not installed (Debian: obs-studio)'
  : isInstalled('Xvfb')
    ? undefined
    : 'Xvfb is not installed';

type Ini = Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>;

interface ObsOptions {
  /** Tracks that are sent over SRT, from 1. Over RTMP, it is the first one. */
  readonly streamedAudioTracks?: readonly number[];
}

interface Message {
  readonly op: number;
  readonly d: {
    readonly authentication?: { readonly challenge: string; readonly salt: string };
    readonly requestId?: string;
    readonly requestStatus?: { readonly result: boolean; readonly comment?: string };
    readonly responseData?: unknown;
    readonly eventType?: string;
    readonly eventData?: { readonly outputState?: string };
  };
}

const OP = { hello: 0, identify: 1, identified: 2, request: 6, response: 7 };
const outputEvents = 1 << 6;
/** Password that protects OBS, which listens on all addresses. */
const password = randomBytes(16).toString('hex');
const outputStatePrefix = 'OBS_WEBSOCKET_OUTPUT_';

/** One OBS on a screen of its own, with a moving picture and a tone, driven with obs-websocket. */
export class Obs {
  readonly #processes: readonly ChildProcess[];
  readonly #home: string;
  readonly #socket: WebSocket;
  readonly #waiting = new Map<string, (message: Message['d']) => void>();
  readonly #output: { text: string };
  readonly #states: string[] = [];
  readonly #identified = Promise.withResolvers<void>();
  #nextId = 1;

  private constructor(
    processes: readonly ChildProcess[],
    home: string,
    socket: WebSocket,
    output: { text: string },
  ) {
    this.#processes = processes;
    this.#home = home;
    this.#socket = socket;
    this.#output = output;
    socket.on('message', data => this.#take(JSON.parse(String(data)) as Message));
  }

  static async launch(options: ObsOptions = {}): Promise<Obs> {
    const home = await makeTempDir();
    const processes: ChildProcess[] = [];
    const output = { text: '' };
    try {
      const port = await freePort();
      await writeSettings(join(home, 'obs-studio'), port, options);
      const screen = await openScreen();
      processes.push(screen.process);
      const obs = spawn(
        'obs',
        ['--multi', '--disable-updater', '--disable-missing-files-check', '--disable-shutdown-check'],
        {
          env: {
            PATH: process.env.PATH,
            HOME: home,
            XDG_CONFIG_HOME: home,
            XDG_RUNTIME_DIR: home,
            DISPLAY: screen.display,
            LIBGL_ALWAYS_SOFTWARE: '1',
            QT_QPA_PLATFORM: 'xcb',
            LC_ALL: 'C.UTF-8',
            // Keeps OBS from fetching updates.
            https_proxy: 'http://127.0.0.1:9',
          },
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
      processes.push(obs);
      for (const stream of [obs.stdout, obs.stderr]) stream.on('data', text => (output.text += text));
      const isListening = () => /WebSocketServer::Start\] Server started/.test(output.text);
      await waitUntil(isListening, { what: () => `OBS: ${output.text.slice(-2_000)}` });
      const launched = new Obs(processes, home, new WebSocket(`ws://127.0.0.1:${port}`), output);
      await launched.#prepare();
      return launched;
    } catch (error) {
      await killAll(processes);
      await removeDir(home);
      throw error;
    }
  }

  /** Text that it printed. */
  get log(): string {
    return this.#output.text;
  }

  /** States of the stream so far, such as `STARTED` and `RECONNECTING`. */
  get states(): readonly string[] {
    return this.#states;
  }

  /** @param server an address over RTMP with its key, or one over SRT */
  async stream(server: string, key = ''): Promise<void> {
    await this.request('SetStreamServiceSettings', {
      streamServiceType: 'rtmp_custom',
      streamServiceSettings: { server, key, use_auth: false },
    });
    this.#states.length = 0;
    // The former stream may not have ended yet. OBS takes the request then, and does nothing.
    await waitUntil(
      async () => {
        if (this.#states.length === 0) await this.request('StartStream');
        return this.#states.length > 0;
      },
      { everyMs: 500, what: () => `OBS to start: ${this.log.slice(-2_000)}` },
    );
  }

  async stop(): Promise<void> {
    await this.request('StopStream');
    await this.reaches('STOPPED');
  }

  async reaches(state: string): Promise<void> {
    await waitUntil(() => this.#states.includes(state), {
      what: () => `${state}, not ${this.#states.join(', ')}: ${this.log.slice(-2_000)}`,
    });
  }

  /** Waits for a text in what OBS logs. */
  async logs(text: string): Promise<void> {
    await waitUntil(() => this.log.includes(text), {
      what: () => `${text} in the log: ${this.log.slice(-2_000)}`,
    });
  }

  /** A request of obs-websocket, version 5. */
  request<Result>(requestType: string, requestData: object = {}): Promise<Result> {
    const requestId = String(this.#nextId++);
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    this.#waiting.set(requestId, ({ requestStatus, responseData }) => {
      if (requestStatus?.result) resolve(responseData as Result);
      else reject(new Error(`${requestType}: ${requestStatus?.comment}`));
    });
    this.#send(OP.request, { requestType, requestId, requestData });
    return promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.terminate();
    await killAll(this.#processes);
    await removeDir(this.#home);
  }

  async #prepare(): Promise<void> {
    await this.#identified.promise;
    for (const input of ['testsrc2=size=640x360:rate=30', 'sine=frequency=440:sample_rate=48000']) {
      // Requests are refused until everything is loaded.
      await waitUntil(
        () =>
          this.request('CreateInput', {
            sceneName: 'Scene',
            inputName: input,
            inputKind: 'ffmpeg_source',
            inputSettings: { is_local_file: false, input, input_format: 'lavfi' },
          }).then(() => true),
        { what: () => `a source in OBS: ${this.log.slice(-2_000)}` },
      );
    }
  }

  #take({ op, d }: Message): void {
    if (op === OP.hello) this.#identify(d.authentication!);
    else if (op === OP.identified) this.#identified.resolve();
    else if (op === OP.response) {
      this.#waiting.get(d.requestId!)?.(d);
      this.#waiting.delete(d.requestId!);
    } else if (d.eventType === 'StreamStateChanged') {
      this.#states.push(d.eventData!.outputState!.replace(outputStatePrefix, ''));
    }
  }

  #identify({ challenge, salt }: { readonly challenge: string; readonly salt: string }): void {
    const authentication = sha256(sha256(password + salt) + challenge);
    this.#send(OP.identify, { rpcVersion: 1, eventSubscriptions: outputEvents, authentication });
  }

  #send(op: number, d: object): void {
    this.#socket.send(JSON.stringify({ op, d }));
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Writes settings with which OBS starts without questions. */
async function writeSettings(
  folder: string,
  port: number,
  { streamedAudioTracks = [1] }: ObsOptions,
): Promise<void> {
  const tracks = streamedAudioTracks.reduce((mask, track) => mask | (1 << (track - 1)), 0);

  const global: Ini = {
    General: { FirstRun: true, LastVersion: 0x7fffffff, InstallGUID: 'millrace', EnableAutoUpdates: false },
    Basic: { Profile: 'Test', ProfileDir: 'Test', SceneCollection: 'Test', SceneCollectionFile: 'Test' },
    BasicWindow: { WarnBeforeStoppingStream: false, SysTrayEnabled: false },
    OBSWebSocket: {
      FirstLoad: false,
      ServerEnabled: true,
      ServerPort: port,
      AlertsEnabled: false,
      AuthRequired: true,
      ServerPassword: password,
    },
  };
  const files: Readonly<Record<string, string>> = {
    'global.ini': iniText(global),
    // File since OBS 31.
    'user.ini': iniText(global),
    // File since OBS 30.2.
    'plugin_config/obs-websocket/config.json': JSON.stringify({
      first_load: false,
      server_enabled: true,
      server_port: port,
      alerts_enabled: false,
      auth_required: true,
      server_password: password,
    }),
    'basic/profiles/Test/basic.ini': iniText({
      General: { Name: 'Test' },
      Video: { BaseCX: 640, BaseCY: 360, OutputCX: 640, OutputCY: 360, FPSType: 0, FPSCommon: 30 },
      Audio: { SampleRate: 48_000 },
      Output: { Mode: 'Advanced', RetryDelay: 2 },
      AdvOut: { Encoder: 'obs_x264', TrackIndex: 1, StreamMultiTrackAudioMixes: tracks },
    }),
    'basic/profiles/Test/streamEncoder.json': JSON.stringify({
      rate_control: 'CBR',
      bitrate: 600,
      keyint_sec: 2,
      preset: 'ultrafast',
    }),
    'basic/scenes/Test.json': JSON.stringify({
      name: 'Test',
      current_scene: 'Scene',
      current_program_scene: 'Scene',
      scene_order: [{ name: 'Scene' }],
      sources: [{ id: 'scene', name: 'Scene', settings: { items: [] } }],
    }),
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

function iniText(ini: Ini): string {
  return Object.entries(ini)
    .map(([section, entries]) =>
      [`[${section}]`, ...Object.entries(entries).map(([name, value]) => `${name}=${value}`), ''].join('\n'),
    )
    .join('\n');
}

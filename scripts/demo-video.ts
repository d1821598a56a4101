import { stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { addWords, makeTheme } from './demo-dressing.ts';
import { runFfmpeg } from './ffmpeg.ts';
import { basicAuthorization, createVideo, type ServerProcess } from './server-process.ts';
import { uploadFile } from './upload-file.ts';

const filmSeconds = 60;
const pollMs = 50;
const playableWithinMs = 60_000;

/** What `GET /videos/{videoId}/status` answers, as far as it is shown here. */
interface Status {
  readonly encoding: {
    readonly playable: boolean;
    readonly failure?: string;
  };
}

/**
 * Writes a film of a minute as a camera would: H.264 and AAC in an MP4, a clock in the picture, a beep each second.
 *
 * @throws Error when ffmpeg fails; what it said stands on the terminal.
 */
export async function makeFilm(ffmpegPath: string, path: string, signal: AbortSignal): Promise<void> {
  const args = [
    ...['-f', 'lavfi', '-i', 'testsrc2=size=1280x720:rate=30'],
    ...['-f', 'lavfi', '-i', 'sine=frequency=440:beep_factor=4:sample_rate=48000'],
    ...['-t', String(filmSeconds), '-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'],
    ...['-g', '60', '-c:a', 'aac', '-b:a', '128k', path],
  ];
  await runFfmpeg(ffmpegPath, args, signal);
}

/** A video of the demo: dressed with words and a theme, uploaded, playable, and on its way to more qualities. */
export class DemoVideo {
  readonly player: string;
  readonly #server: ServerProcess;
  readonly #videoId: string;
  readonly #uploadedAtMs: number;

  private constructor(
    server: ServerProcess,
    video: { videoId: string; assets: { player: string } },
    uploadedAtMs: number,
  ) {
    this.player = video.assets.player;
    this.#server = server;
    this.#videoId = video.videoId;
    this.#uploadedAtMs = uploadedAtMs;
  }

  /** Makes a video with captions, chapters and a theme, sends the file to it and tells how far that is. */
  static async upload(server: ServerProcess, path: string, signal: AbortSignal): Promise<DemoVideo> {
    const video = await createVideo(server.baseUrl, server.productionKey, {
      title: 'Demo: a film of a minute',
      playerId: await makeTheme(server),
    });
    await addWords(server, video.videoId);
    const { size } = await stat(path);
    const line = new ProgressLine(`Uploading ${(size / 1e6).toFixed(1)} MB`);
    try {
      const { lastByteAtMs } = await uploadFile({
        baseUrl: server.baseUrl,
        apiKey: server.productionKey,
        videoId: video.videoId,
        path,
        signal,
        onProgress: (sent, all) => line.show(sent / all),
      });
      return new DemoVideo(server, video, lastByteAtMs);
    } finally {
      line.end();
    }
  }

  /** Waits until there is something to play. Seconds since the last byte was sent. @throws Error when there never will be. */
  async untilPlayable(signal: AbortSignal): Promise<number> {
    for (;;) {
      const { encoding } = await this.#status(signal);
      const sinceMs = performance.now() - this.#uploadedAtMs;
      if (encoding.playable) return sinceMs / 1000;
      if (encoding.failure !== undefined) throw new Error(`The film was refused: ${encoding.failure}`);
      if (sinceMs > playableWithinMs)
        throw new Error(`The film cannot be played ${playableWithinMs / 1000} s after it was uploaded.`);
      await sleep(pollMs, undefined, { signal });
    }
  }

  async #status(signal: AbortSignal): Promise<Status> {
    const path = `/videos/${this.#videoId}/status`;
    const headers = { authorization: basicAuthorization(this.#server.productionKey) };
    const answer = await fetch(this.#server.baseUrl + path, { headers, signal });
    if (!answer.ok) throw new Error(`GET ${path} answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as Status;
  }
}

/** A line that grows on a terminal; elsewhere its end only. */
class ProgressLine {
  readonly #text: string;
  #percent = -1;

  constructor(text: string) {
    this.#text = text;
  }

  show(share: number): void {
    const percent = Math.floor(share * 100);
    if (percent === this.#percent) return;
    this.#percent = percent;
    if (process.stdout.isTTY) process.stdout.write(`\r${this.#line()}`);
  }

  end(): void {
    process.stdout.write(`${process.stdout.isTTY ? '\r' : ''}${this.#line()}\n`);
  }

  #line(): string {
    const filled = Math.round(Math.max(0, this.#percent) / 4);
    return `${this.#text} [${'='.repeat(filled).padEnd(25)}] ${String(Math.max(0, this.#percent)).padStart(3)} %`;
  }
}

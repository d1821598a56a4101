/** Insertable streams of Chrome and Edge, which the types of the DOM do not have. */
interface TrackProcessor {
  readonly readable: ReadableStream<VideoFrame>;
}

interface TrackGenerator extends MediaStreamTrack {
  readonly writable: WritableStream<VideoFrame>;
}

interface InsertableStreams {
  readonly MediaStreamTrackProcessor?: new (init: {
    track: MediaStreamTrack;
    maxBufferSize?: number;
  }) => TrackProcessor;
  readonly MediaStreamTrackGenerator?: new (init: { kind: 'video' }) => TrackGenerator;
}

interface CameraOverlayOptions {
  readonly screen: MediaStreamTrack;
  readonly camera: MediaStreamTrack;
  /** Once, when this device composes less than it should. */
  tooSlow(): void;
}

/** Shares of the width. */
const cameraShare = 0.22;
const marginShare = 0.018;
const radiusShare = 0.012;
/** Time that composing may take of a frame at 30 fps. */
const maxFrameMs = 28;
const maxDroppedShare = 0.3;
const judgedFrames = 90;

const { MediaStreamTrackProcessor, MediaStreamTrackGenerator } = globalThis as InsertableStreams;

/** Timers of a page in the background are slow, and a page that shares its screen is there. Frames of tracks are not. */
export function canOverlayCamera(): boolean {
  return MediaStreamTrackProcessor !== undefined && MediaStreamTrackGenerator !== undefined;
}

/** Draws the camera over the lower right corner of the screen, at the frame rate of the camera. */
export class CameraOverlay {
  readonly track: MediaStreamTrack;
  readonly #options: CameraOverlayOptions;
  readonly #writer: WritableStreamDefaultWriter<VideoFrame>;
  readonly #readers: ReadableStreamDefaultReader<VideoFrame>[] = [];
  #canvas: OffscreenCanvas | undefined;
  #screen: VideoFrame | undefined;
  #isClosed = false;
  #frames = 0;
  #dropped = 0;
  #busyMs = 0;

  /** Throws where {@link canOverlayCamera} is false. */
  constructor(options: CameraOverlayOptions) {
    const generator = new MediaStreamTrackGenerator!({ kind: 'video' });
    this.track = generator;
    this.#options = options;
    this.#writer = generator.writable.getWriter();
    void this.#read(options.screen, frame => {
      this.#screen?.close();
      this.#screen = frame;
    });
    void this.#read(options.camera, frame => {
      this.#compose(frame);
      frame.close();
    });
  }

  /** The tracks that it composes go on. */
  close(): void {
    this.#isClosed = true;
    for (const reader of this.#readers) void reader.cancel().catch(() => {});
    void this.#writer.abort().catch(() => {});
    this.#screen?.close();
    this.#screen = undefined;
    this.track.stop();
  }

  async #read(track: MediaStreamTrack, take: (frame: VideoFrame) => void): Promise<void> {
    const reader = new MediaStreamTrackProcessor!({ track, maxBufferSize: 1 }).readable.getReader();
    this.#readers.push(reader);
    for (;;) {
      const { value: frame } = await reader.read().catch(() => ({ value: undefined }));
      if (frame === undefined) return;
      if (this.#isClosed) frame.close();
      else take(frame);
    }
  }

  #compose(camera: VideoFrame): void {
    const screen = this.#screen;
    if (screen === undefined) return;
    const startMs = performance.now();
    // The size stays: another one would interrupt playback.
    this.#canvas ??= new OffscreenCanvas(even(screen.displayWidth), even(screen.displayHeight));
    const context = this.#canvas.getContext('2d', { alpha: false })!;
    draw(context, screen, camera);
    if ((this.#writer.desiredSize ?? 0) <= 0) this.#dropped += 1;
    else {
      const frame = new VideoFrame(this.#canvas, { timestamp: camera.timestamp });
      void this.#writer.write(frame).catch(() => frame.close());
    }
    this.#judge(performance.now() - startMs);
  }

  #judge(frameMs: number): void {
    this.#frames += 1;
    this.#busyMs += frameMs;
    if (this.#frames < judgedFrames) return;
    const isSlow = this.#busyMs / this.#frames > maxFrameMs || this.#dropped / this.#frames > maxDroppedShare;
    this.#frames = 0;
    this.#dropped = 0;
    this.#busyMs = 0;
    if (isSlow) this.#options.tooSlow();
  }
}

function draw(context: OffscreenCanvasRenderingContext2D, screen: VideoFrame, camera: VideoFrame): void {
  const { width, height } = context.canvas;
  const scale = Math.min(width / screen.displayWidth, height / screen.displayHeight);
  const shown = { width: screen.displayWidth * scale, height: screen.displayHeight * scale };
  if (shown.width < width - 1 || shown.height < height - 1) {
    context.fillStyle = '#000';
    context.fillRect(0, 0, width, height);
  }
  const left = (width - shown.width) / 2;
  const top = (height - shown.height) / 2;
  context.drawImage(screen, left, top, shown.width, shown.height);
  const cameraWidth = width * cameraShare;
  const cameraHeight = (cameraWidth * camera.displayHeight) / camera.displayWidth;
  const margin = width * marginShare;
  context.save();
  context.beginPath();
  context.roundRect(
    width - cameraWidth - margin,
    height - cameraHeight - margin,
    cameraWidth,
    cameraHeight,
    width * radiusShare,
  );
  context.clip();
  context.drawImage(
    camera,
    width - cameraWidth - margin,
    height - cameraHeight - margin,
    cameraWidth,
    cameraHeight,
  );
  context.restore();
}

/** H.264 has no odd sizes. */
function even(pixels: number): number {
  return Math.max(2, pixels - (pixels % 2));
}

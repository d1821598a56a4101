import { signal } from '@preact/signals';
import { readStored, writeStored } from '../../../state/local-storage.ts';
import { AudioMixer } from './audio-mixer.ts';
import {
  type CaptureSource,
  captureProblem,
  openCamera,
  openMicrophone,
  openScreen,
  type PresetName,
  videoPresets,
} from './capture.ts';

export interface Device {
  readonly id: string;
  readonly label: string;
}

type VideoSource = 'camera' | 'screen';

/** Device id of "No microphone". */
export const noMicrophone = 'none';

const stored = { camera: 'studio-camera', microphone: 'studio-microphone', quality: 'studio-quality' };

/** Camera, screen and microphone of the studio, and the choices between them, which are remembered. */
export class StudioMedia {
  readonly video = signal<MediaStreamTrack | undefined>(undefined);
  readonly source = signal<VideoSource>('camera');
  readonly cameras = signal<readonly Device[]>([]);
  readonly microphones = signal<readonly Device[]>([]);
  readonly cameraId = signal(readStored(stored.camera) ?? '');
  readonly microphoneId = signal(readStored(stored.microphone) ?? '');
  readonly preset = signal<PresetName>(presetOf(readStored(stored.quality)));
  readonly isMuted = signal(false);
  readonly isVideoOff = signal(false);
  readonly hasScreenAudio = signal(false);
  readonly problem = signal<string | undefined>(undefined);
  readonly isBusy = signal(false);
  readonly #videoChanged: (track: MediaStreamTrack) => void;
  #mixer: AudioMixer | undefined;
  #isClosed = false;

  /** @param videoChanged a connection has to send another track */
  constructor(videoChanged: (track: MediaStreamTrack) => void) {
    this.#videoChanged = videoChanged;
    navigator.mediaDevices?.addEventListener('devicechange', this.#listDevices);
  }

  /** Silent without a microphone. Needs a click before. */
  get mixer(): AudioMixer {
    this.#mixer ??= new AudioMixer();
    this.#mixer.resume();
    return this.#mixer;
  }

  get maxBitsPerSecond(): number {
    return videoPresets[this.preset.value].maxBitsPerSecond;
  }

  start(source: VideoSource): Promise<void> {
    return this.#work(async () => {
      if (source === 'screen') await this.#useScreen();
      else await this.#useCamera(this.cameraId.value);
      if (!this.mixer.hasInput('microphone')) await this.#useMicrophone(this.microphoneId.value);
    });
  }

  useScreen(): Promise<void> {
    return this.#work(() => this.#useScreen());
  }

  useCamera(deviceId: string): Promise<void> {
    return this.#work(() => this.#useCamera(deviceId));
  }

  useMicrophone(deviceId: string): Promise<void> {
    return this.#work(() => this.#useMicrophone(deviceId));
  }

  /** The next camera of a phone, which has one at the front and others at the back. */
  useNextCamera(): Promise<void> {
    const cameras = this.cameras.value;
    const current = this.video.value?.getSettings().deviceId;
    const index = cameras.findIndex(({ id }) => id === current);
    return this.useCamera(cameras[(index + 1) % cameras.length]?.id ?? '');
  }

  async setPreset(preset: PresetName): Promise<void> {
    this.preset.value = preset;
    writeStored(stored.quality, preset);
    const { width, height } = videoPresets[preset];
    const constraints = this.source.value === 'screen' ? { max: width } : { ideal: width };
    const rows = this.source.value === 'screen' ? { max: height } : { ideal: height };
    await this.video.value?.applyConstraints({ width: constraints, height: rows }).catch(() => {});
  }

  setMuted(isMuted: boolean): void {
    this.isMuted.value = isMuted;
    this.mixer.setMuted(isMuted);
  }

  /** Sends black while off. */
  setVideoOff(isOff: boolean): void {
    this.isVideoOff.value = isOff;
    if (this.video.value !== undefined) this.video.value.enabled = !isOff;
  }

  close(): void {
    this.#isClosed = true;
    navigator.mediaDevices?.removeEventListener('devicechange', this.#listDevices);
    this.video.value?.stop();
    this.#mixer?.close();
  }

  async #work(work: () => Promise<void>): Promise<void> {
    if (this.isBusy.value) return;
    this.isBusy.value = true;
    this.problem.value = undefined;
    try {
      await work();
    } finally {
      this.isBusy.value = false;
    }
  }

  async #useCamera(deviceId: string): Promise<void> {
    const track = await this.#capture('camera', async () => {
      const preset = videoPresets[this.preset.value];
      try {
        return await openCamera(deviceId, preset);
      } catch (error) {
        // A remembered camera may be gone.
        if (deviceId !== '' && error instanceof Error && error.name === 'OverconstrainedError')
          return openCamera('', preset);
        throw error;
      }
    });
    if (track === undefined) return;
    this.mixer.setInput('screen', undefined);
    this.hasScreenAudio.value = false;
    this.#setVideo(track, 'camera');
    this.cameraId.value = track.getSettings().deviceId ?? '';
    writeStored(stored.camera, this.cameraId.value);
    await this.#listDevices();
  }

  async #useScreen(): Promise<void> {
    const tracks = await this.#capture('screen', () => openScreen(videoPresets[this.preset.value]));
    if (tracks === undefined) return;
    this.mixer.setInput('screen', tracks.audio);
    this.hasScreenAudio.value = tracks.audio !== undefined;
    this.#setVideo(tracks.video, 'screen');
  }

  async #useMicrophone(deviceId: string): Promise<void> {
    this.microphoneId.value = deviceId;
    writeStored(stored.microphone, deviceId);
    if (deviceId === noMicrophone) {
      this.mixer.setInput('microphone', undefined);
      return;
    }
    const track = await this.#capture('microphone', () => openMicrophone(deviceId));
    if (track === undefined) {
      this.microphoneId.value = noMicrophone;
      return;
    }
    this.mixer.setInput('microphone', track);
    this.mixer.setMuted(this.isMuted.value);
    this.microphoneId.value = track.getSettings().deviceId ?? '';
    track.addEventListener('ended', () => {
      this.mixer.setInput('microphone', undefined);
      this.microphoneId.value = noMicrophone;
      this.problem.value = 'The microphone was disconnected. Choose another one.';
    });
    await this.#listDevices();
  }

  async #capture<Result>(source: CaptureSource, open: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await open();
    } catch (error) {
      this.problem.value = captureProblem(error, source);
      return undefined;
    }
  }

  #setVideo(track: MediaStreamTrack, source: VideoSource): void {
    if (this.#isClosed) {
      track.stop();
      return;
    }
    const former = this.video.value;
    this.video.value = track;
    this.source.value = source;
    track.enabled = !this.isVideoOff.value;
    track.addEventListener('ended', () => this.#videoEnded(track, source));
    this.#videoChanged(track);
    former?.stop();
  }

  /** Unplugged, or the browser's own button that ends sharing the screen. */
  #videoEnded(track: MediaStreamTrack, source: VideoSource): void {
    if (this.#isClosed || this.video.value !== track) return;
    if (source === 'screen' && this.cameras.value.length > 0) void this.useCamera(this.cameraId.value);
    else {
      this.problem.value =
        source === 'screen'
          ? 'The screen is no longer shared. Share it again, or turn on the camera.'
          : 'The camera was disconnected. Choose another one.';
    }
  }

  readonly #listDevices = async (): Promise<void> => {
    const devices = await navigator.mediaDevices.enumerateDevices().catch(() => []);
    const of = (kind: MediaDeviceKind, name: string) =>
      devices
        .filter(device => device.kind === kind && device.deviceId !== '')
        .map(({ deviceId, label }, index) => ({ id: deviceId, label: label || `${name} ${index + 1}` }));
    this.cameras.value = of('videoinput', 'Camera');
    this.microphones.value = of('audioinput', 'Microphone');
  };
}

function presetOf(name: string | undefined): PresetName {
  return name !== undefined && Object.hasOwn(videoPresets, name) ? (name as PresetName) : '720p';
}

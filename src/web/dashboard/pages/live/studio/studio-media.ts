import { signal } from '@preact/signals';
import { readStored, writeStored } from '../../../state/local-storage.ts';
import { t } from '../../../texts/live.ts';
import { AudioMixer } from './audio-mixer.ts';
import { CameraOverlay, canOverlayCamera } from './camera-overlay.ts';
import {
  type CaptureSource,
  captureProblem,
  isMirrored,
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

const stored = {
  camera: 'studio-camera',
  microphone: 'studio-microphone',
  quality: 'studio-quality',
  overlay: 'studio-overlay',
};

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
  /** The camera is drawn over the shared screen, where this browser and device can. */
  readonly hasOverlay = signal(readStored(stored.overlay) !== 'off');
  /** Looks like a mirror to the one who is in front of it. */
  readonly isMirrored = signal(false);
  readonly problem = signal<string | undefined>(undefined);
  readonly isBusy = signal(false);
  readonly #videoChanged: (track: MediaStreamTrack) => void;
  #mixer: AudioMixer | undefined;
  #camera: MediaStreamTrack | undefined;
  #screen: MediaStreamTrack | undefined;
  #overlay: CameraOverlay | undefined;
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

  /** Keeps the screen while it is shared. */
  chooseCamera(deviceId: string): Promise<void> {
    if (this.source.value === 'camera') return this.useCamera(deviceId);
    return this.#work(async () => {
      if (await this.#openCamera(deviceId)) this.#show();
    });
  }

  /** The next camera of a phone, which has one at the front and others at the back. */
  useNextCamera(): Promise<void> {
    const cameras = this.cameras.value;
    const index = cameras.findIndex(({ id }) => id === this.cameraId.value);
    return this.chooseCamera(cameras[(index + 1) % cameras.length]?.id ?? '');
  }

  async setPreset(preset: PresetName): Promise<void> {
    this.preset.value = preset;
    writeStored(stored.quality, preset);
    const { width, height } = videoPresets[preset];
    const constraints = this.source.value === 'screen' ? { max: width } : { ideal: width };
    const rows = this.source.value === 'screen' ? { max: height } : { ideal: height };
    const track = this.source.value === 'screen' ? this.#screen : this.#camera;
    await track?.applyConstraints({ width: constraints, height: rows }).catch(() => {});
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

  setOverlay(hasOverlay: boolean): Promise<void> {
    this.hasOverlay.value = hasOverlay;
    writeStored(stored.overlay, hasOverlay ? undefined : 'off');
    return this.#work(async () => {
      if (this.source.value !== 'screen') return;
      if (hasOverlay && this.#camera === undefined) await this.#openCamera(this.cameraId.value);
      this.#show();
    });
  }

  close(): void {
    this.#isClosed = true;
    navigator.mediaDevices?.removeEventListener('devicechange', this.#listDevices);
    this.#overlay?.close();
    this.#camera?.stop();
    this.#screen?.stop();
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
    if (!(await this.#openCamera(deviceId))) return;
    this.mixer.setInput('screen', undefined);
    this.hasScreenAudio.value = false;
    this.source.value = 'camera';
    this.#show();
  }

  /** Returns false when there is none, with the problem. */
  async #openCamera(deviceId: string): Promise<boolean> {
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
    if (track === undefined) return false;
    const former = this.#camera;
    this.#camera = track;
    track.addEventListener('ended', () => this.#cameraEnded(track));
    former?.stop();
    this.cameraId.value = track.getSettings().deviceId ?? '';
    writeStored(stored.camera, this.cameraId.value);
    await this.#listDevices();
    return true;
  }

  async #useScreen(): Promise<void> {
    const tracks = await this.#capture('screen', () => openScreen(videoPresets[this.preset.value]));
    if (tracks === undefined) return;
    const former = this.#screen;
    this.#screen = tracks.video;
    tracks.video.addEventListener('ended', () => this.#screenEnded(tracks.video));
    former?.stop();
    this.mixer.setInput('screen', tracks.audio);
    this.hasScreenAudio.value = tracks.audio !== undefined;
    this.source.value = 'screen';
    this.#show();
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
      this.problem.value = t('studio.microphoneGone');
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

  /** Sends what is chosen, and stops what is not part of it. */
  #show(): void {
    const [screen, camera] = [this.#screen, this.#camera];
    if (this.#isClosed) {
      screen?.stop();
      camera?.stop();
      return;
    }
    const former = this.#overlay;
    this.#overlay = undefined;
    const isScreen = this.source.value === 'screen';
    const isComposed = isScreen && this.hasOverlay.value && canOverlayCamera() && screen && camera;
    if (isComposed) {
      this.#overlay = new CameraOverlay({ screen, camera, tooSlow: () => this.#composingIsSlow() });
    }
    const track = this.#overlay?.track ?? (isScreen ? screen : camera);
    if (track !== undefined) {
      track.enabled = !this.isVideoOff.value;
      this.isMirrored.value = !isScreen && isMirrored(track);
      this.video.value = track;
      this.#videoChanged(track);
    }
    former?.close();
    if (!isScreen) {
      screen?.stop();
      this.#screen = undefined;
    } else if (this.#overlay === undefined) {
      camera?.stop();
      this.#camera = undefined;
    }
  }

  #composingIsSlow(): void {
    this.hasOverlay.value = false;
    this.#show();
    this.problem.value = t('studio.tooSlow');
  }

  #cameraEnded(track: MediaStreamTrack): void {
    if (this.#isClosed || this.#camera !== track) return;
    this.#camera = undefined;
    if (this.source.value === 'screen') this.#show();
    this.problem.value = t('studio.cameraGone');
  }

  /** The browser's own button ends sharing the screen, too. */
  #screenEnded(track: MediaStreamTrack): void {
    if (this.#isClosed || this.#screen !== track) return;
    if (this.cameras.value.length > 0) void this.useCamera(this.cameraId.value);
    else this.problem.value = t('studio.screenGone');
  }

  readonly #listDevices = async (): Promise<void> => {
    const devices = await navigator.mediaDevices.enumerateDevices().catch(() => []);
    const of = (kind: MediaDeviceKind, nameOf: (number: number) => string) =>
      devices
        .filter(device => device.kind === kind && device.deviceId !== '')
        .map(({ deviceId, label }, index) => ({ id: deviceId, label: label || nameOf(index + 1) }));
    this.cameras.value = of('videoinput', number => t('studio.cameraNumber', { number }));
    this.microphones.value = of('audioinput', number => t('studio.microphoneNumber', { number }));
  };
}

function presetOf(name: string | undefined): PresetName {
  return name !== undefined && Object.hasOwn(videoPresets, name) ? (name as PresetName) : '720p';
}

import { AudioControl } from '../media/audio-control.ts';
import { AudioTracks } from '../media/audio-tracks.ts';
import { Captions } from '../media/captions.ts';
import { PlaybackIntent } from '../media/playback-intent.ts';
import { PlayerSettings } from '../media/player-settings.ts';
import type { PlayerSource } from './player-source.ts';

const sampleSeconds = 120;

/** A video that is not there, which shows the controls and themes. */
export class SampleSource implements PlayerSource {
  readonly phase = 'ready';
  readonly refusal = undefined;
  readonly isReachable = true;
  readonly isSourceStalled = false;
  readonly theme = undefined;
  readonly latency = undefined;
  readonly clips = undefined;
  readonly cues = { chapters: undefined, storyboard: undefined };
  readonly qualities = [];
  readonly chosenQuality = undefined;
  readonly activeQuality = undefined;
  readonly hasBegun = true;
  readonly isAtEnd = false;
  readonly isGrowing = false;
  readonly availableSeconds = sampleSeconds;
  readonly totalSeconds = sampleSeconds;
  readonly rewindRange = { start: 0, end: sampleSeconds };
  readonly isAtLiveEdge = false;
  readonly rate = 1;
  isLooping = false;
  readonly details: PlayerSource['details'];
  readonly audio: AudioControl;
  readonly playing: PlaybackIntent;
  readonly captions: Captions;
  readonly audioTracks: AudioTracks;

  /** @param poster address of the image that it shows */
  constructor(video: HTMLVideoElement, title: string, poster: string) {
    const settings = new PlayerSettings();
    const ignore = () => {};
    this.audio = new AudioControl(video, { muted: false }, ignore);
    this.playing = new PlaybackIntent(video, this.audio, { wantsToPlay: false }, ignore);
    this.captions = new Captions(video, settings, ignore);
    this.audioTracks = new AudioTracks(settings, ignore);
    video.poster = poster;
    this.details = {
      kind: 'video',
      id: 'sample',
      title,
      poster,
      pageUrl: location.href,
      embedUrl: location.href,
      downloadUrl: undefined,
      durationSeconds: sampleSeconds,
      size: undefined,
      viewers: undefined,
      next: undefined,
    };
  }

  start(): void {}
  end(): void {}
  play(): void {}
  pause(): void {}
  seekTo(): void {}
  seekBy(): void {}
  seekToFraction(): void {}
  goToLive(): void {}
  setRate(): void {}
  stepRate(): number {
    return 1;
  }
  stepFrame(): void {}
  chooseQuality(): void {}
  dateAt(): undefined {
    return undefined;
  }
}

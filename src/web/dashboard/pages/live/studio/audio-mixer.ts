/**
 * Mixes the microphone and the sound of the screen into one track, which stays the same when they come and go: a
 * WebRTC connection cannot add a track without a new offer.
 */
export class AudioMixer {
  readonly #context = new AudioContext({ sampleRate: 48_000 });
  readonly #output = this.#context.createMediaStreamDestination();
  readonly #analyser = this.#context.createAnalyser();
  readonly #samples: Float32Array<ArrayBuffer>;
  readonly #inputs = new Map<string, { readonly track: MediaStreamTrack; readonly node: GainNode }>();

  constructor() {
    this.#analyser.fftSize = 1024;
    this.#samples = new Float32Array(this.#analyser.fftSize);
    this.#analyser.connect(this.#output);
  }

  get track(): MediaStreamTrack {
    return this.#output.stream.getAudioTracks()[0]!;
  }

  /** Browsers start a context suspended unless the user has just clicked. */
  resume(): void {
    if (this.#context.state === 'suspended') void this.#context.resume();
  }

  /** Replaces and stops the input of this name; undefined only removes it. */
  setInput(name: 'microphone' | 'screen', track: MediaStreamTrack | undefined): void {
    const former = this.#inputs.get(name);
    former?.node.disconnect();
    if (former?.track !== track) former?.track.stop();
    this.#inputs.delete(name);
    if (track === undefined) return;
    const node = this.#context.createGain();
    this.#context.createMediaStreamSource(new MediaStream([track])).connect(node);
    node.connect(this.#analyser);
    this.#inputs.set(name, { track, node });
  }

  hasInput(name: 'microphone' | 'screen'): boolean {
    return this.#inputs.has(name);
  }

  setMuted(isMuted: boolean): void {
    const microphone = this.#inputs.get('microphone');
    if (microphone !== undefined) microphone.node.gain.value = isMuted ? 0 : 1;
  }

  /** Loudest sample of the last 21 ms in decibels relative to full scale, -Infinity for silence. */
  get peakDecibels(): number {
    this.#analyser.getFloatTimeDomainData(this.#samples);
    let peak = 0;
    for (const sample of this.#samples) peak = Math.max(peak, Math.abs(sample));
    return 20 * Math.log10(peak);
  }

  close(): void {
    this.setInput('microphone', undefined);
    this.setInput('screen', undefined);
    void this.#context.close();
  }
}

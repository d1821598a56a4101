const network = "Check the upload bandwidth of the encoder's network, or choose a lower bitrate.";
const nearRouter = 'Move closer to the router or use a cable, or choose a lower quality.';
const reload = 'Reload the page, and go live again.';

/** Advice for the person at the encoder. */
export const encoderAdvice = {
  'bitrate-collapsed': network,
  'bitrate-low': network,
  'frame-rate-collapsed': "Check the load of the encoder's machine, or choose a lower resolution.",
  'audio-missing': 'Check the audio source and the audio track of the encoder.',
  'video-missing': 'Check the video source and the network of the encoder.',
  'timestamps-jumping': 'Restart the encoder, and check the clock of its sources.',
  'audio-video-drift': 'Check the sample rate and the clocks of the audio sources in the encoder.',
  'frequent-reconnects': "Check the encoder's network, or choose a lower bitrate.",
};

/** Advice for the person at a browser, which has no settings of an encoder. */
export const browserAdvice: Readonly<Record<keyof typeof encoderAdvice, string>> = {
  'bitrate-collapsed': nearRouter,
  'bitrate-low': nearRouter,
  'frame-rate-collapsed': 'Move closer to the router, close other apps, or choose a lower quality.',
  'audio-missing': 'Check the microphone, and that the browser may use it.',
  'video-missing': 'Check the camera, and that the browser may use it.',
  'timestamps-jumping': reload,
  'audio-video-drift': reload,
  'frequent-reconnects': nearRouter,
};

/** The names that `User-Agent` headers are shortened to. */
const browserName = /^(?:Chrome|Edge|Firefox|Safari) \d/;

export function isBrowserPublisher(publisher: {
  readonly protocol: string;
  readonly encoder: string;
}): boolean {
  return publisher.protocol === 'whip' && browserName.test(publisher.encoder);
}

/** Texts of the overview. */
export default {
  'encoder.source': 'The source',
  'encoder.unknown': 'An encoder',
  'refusal.title': '{encoder} was refused',
  'refusal.titleFrom': '{encoder} from {address} was refused',
  'refusal.times': '{count, plural, one {# time} other {# times}}, last <t>{time}</t>',
  'refusal.endedByYou':
    'You ended the broadcast. The encoder “{name}” at {address} is refused until it has stayed away for a minute.',
  'refusal.endedByYouUnnamed':
    'You ended the broadcast. The encoder at {address} is refused until it has stayed away for a minute.',
  'refusal.allowAgain': 'Allow again',
  'refusal.allowed': 'The encoder can go live again.',
  'alarm.keyframesTooFarApart': 'Keyframes are too far apart',
  'alarm.bitrateCollapsed': 'The bitrate has collapsed',
  'alarm.bitrateLow': 'The bitrate is too low',
  'alarm.frameRateCollapsed': 'The frame rate has collapsed',
  'alarm.audioMissing': 'No audio',
  'alarm.videoMissing': 'No video',
  'alarm.timestampsJumping': 'Timestamps jump',
  'alarm.audioVideoDrift': 'Audio and video drift apart',
  'alarm.frequentReconnects': 'The encoder reconnects frequently',
  'capture.needsHttps':
    'Browsers allow the camera and the microphone on HTTPS pages and on localhost only. Set up a certificate for this server, and open this page over HTTPS.',
  'capture.noWebRtc':
    'This browser cannot send video over WebRTC. Use a current Chrome or Firefox, or OBS Studio.',
  'capture.notAllowed':
    'Your browser doesn’t allow this page to use the {source, select, camera {camera} other {microphone}}. Allow it with the icon beside the address, then try again.',
  'capture.notFound':
    'No {source, select, camera {camera} microphone {microphone} other {screen}} was found. Connect one, then try again.',
  'capture.disconnected':
    'This {source, select, camera {camera} microphone {microphone} other {screen}} is no longer connected. Choose another one.',
  'capture.inUse':
    'The {source, select, camera {camera} microphone {microphone} other {screen}} can’t be used. Close other apps that use it, then try again.',
  'capture.failed':
    'The {source, select, camera {camera} microphone {microphone} other {screen}} can’t be used: {reason}',
} as const;

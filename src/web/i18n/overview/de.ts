import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'encoder.source': 'Die Quelle',
  'encoder.unknown': 'Ein Encoder',
  'refusal.title': '{encoder} wurde abgewiesen',
  'refusal.titleFrom': '{encoder} von {address} wurde abgewiesen',
  'refusal.times': '{count, plural, one {#-mal} other {#-mal}}, zuletzt <t>{time}</t>',
  'refusal.endedByYou':
    'Sie haben die Sendung beendet. Der Encoder „{name}“ mit der Adresse {address} wird abgewiesen, bis er eine Minute lang weggeblieben ist.',
  'refusal.endedByYouUnnamed':
    'Sie haben die Sendung beendet. Der Encoder mit der Adresse {address} wird abgewiesen, bis er eine Minute lang weggeblieben ist.',
  'refusal.allowAgain': 'Wieder zulassen',
  'refusal.allowed': 'Der Encoder kann wieder live gehen.',
  'alarm.keyframesTooFarApart': 'Keyframes liegen zu weit auseinander',
  'alarm.bitrateCollapsed': 'Die Bitrate ist eingebrochen',
  'alarm.bitrateLow': 'Die Bitrate ist zu niedrig',
  'alarm.frameRateCollapsed': 'Die Bildrate ist eingebrochen',
  'alarm.audioMissing': 'Kein Ton',
  'alarm.videoMissing': 'Kein Bild',
  'alarm.timestampsJumping': 'Zeitstempel springen',
  'alarm.audioVideoDrift': 'Bild und Ton laufen auseinander',
  'alarm.frequentReconnects': 'Der Encoder verbindet sich häufig neu',
  'capture.needsHttps':
    'Browser erlauben Kamera und Mikrofon nur auf HTTPS-Seiten und auf localhost. Richten Sie ein Zertifikat für diesen Server ein, und öffnen Sie diese Seite über HTTPS.',
  'capture.noWebRtc':
    'Dieser Browser kann kein Video über WebRTC senden. Verwenden Sie ein aktuelles Chrome oder Firefox, oder OBS Studio.',
  'capture.notAllowed':
    'Ihr Browser erlaubt dieser Seite nicht, {source, select, camera {die Kamera} other {das Mikrofon}} zu verwenden. Erlauben Sie es mit dem Symbol neben der Adresse, und versuchen Sie es erneut.',
  'capture.notFound':
    '{source, select, camera {Keine Kamera} microphone {Kein Mikrofon} other {Kein Bildschirm}} gefunden. Schließen Sie das Gerät an, und versuchen Sie es erneut.',
  'capture.disconnected':
    '{source, select, camera {Diese Kamera} microphone {Dieses Mikrofon} other {Dieser Bildschirm}} ist nicht mehr verbunden. Wählen Sie ein anderes Gerät.',
  'capture.inUse':
    '{source, select, camera {Die Kamera} microphone {Das Mikrofon} other {Der Bildschirm}} kann nicht verwendet werden. Schließen Sie andere Apps, die darauf zugreifen, und versuchen Sie es erneut.',
  'capture.failed':
    '{source, select, camera {Die Kamera} microphone {Das Mikrofon} other {Der Bildschirm}} kann nicht verwendet werden: {reason}',
};

export default messages;

import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'encoder.source': 'La fuente',
  'encoder.unknown': 'Un codificador',
  'refusal.title': 'Rechazado: {encoder}',
  'refusal.titleFrom': 'Rechazado: {encoder} desde {address}',
  'refusal.times': '{count, plural, one {# vez} many {# veces} other {# veces}}, la última <t>{time}</t>',
  'refusal.endedByYou':
    'Has finalizado la emisión. El codificador «{name}» en {address} se rechaza hasta que pase un minuto sin conectarse.',
  'refusal.endedByYouUnnamed':
    'Has finalizado la emisión. El codificador en {address} se rechaza hasta que pase un minuto sin conectarse.',
  'refusal.allowAgain': 'Volver a permitir',
  'refusal.allowed': 'El codificador puede volver a emitir en directo.',
  'alarm.keyframesTooFarApart': 'Los fotogramas clave están demasiado separados',
  'alarm.bitrateCollapsed': 'La tasa de bits se ha desplomado',
  'alarm.bitrateLow': 'La tasa de bits es demasiado baja',
  'alarm.frameRateCollapsed': 'Los fotogramas por segundo se han desplomado',
  'alarm.audioMissing': 'Sin audio',
  'alarm.videoMissing': 'Sin vídeo',
  'alarm.timestampsJumping': 'Las marcas de tiempo saltan',
  'alarm.audioVideoDrift': 'El audio y el vídeo se desincronizan',
  'alarm.frequentReconnects': 'El codificador se reconecta con frecuencia',
  'capture.needsHttps':
    'Los navegadores solo permiten la cámara y el micrófono en páginas HTTPS y en localhost. Configura un certificado para este servidor y abre esta página con HTTPS.',
  'capture.noWebRtc':
    'Este navegador no puede enviar vídeo por WebRTC. Usa una versión actual de Chrome o Firefox, u OBS Studio.',
  'capture.notAllowed':
    'Tu navegador no permite que esta página use {source, select, camera {la cámara} other {el micrófono}}. Permítelo con el icono junto a la dirección y vuelve a intentarlo.',
  'capture.notFound':
    'No se ha encontrado {source, select, camera {ninguna cámara} microphone {ningún micrófono} other {ninguna pantalla}}. Conecta el dispositivo y vuelve a intentarlo.',
  'capture.disconnected':
    '{source, select, camera {Esta cámara ya no está conectada} microphone {Este micrófono ya no está conectado} other {Esta pantalla ya no está conectada}}. Elige otro dispositivo.',
  'capture.inUse':
    'No se puede usar {source, select, camera {la cámara} microphone {el micrófono} other {la pantalla}}. Cierra otras aplicaciones que estén usando el dispositivo y vuelve a intentarlo.',
  'capture.failed':
    'No se puede usar {source, select, camera {la cámara} microphone {el micrófono} other {la pantalla}}: {reason}',
};

export default messages;

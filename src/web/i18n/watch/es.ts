import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'watch.chapters': 'Capítulos',
  'watch.transcript': 'Transcripción',
  'watch.searchTranscript': 'Buscar en la transcripción',
  'watch.language': 'Idioma',
  'watch.followPlayback': 'Seguir la reproducción',
  'watch.loading': 'Cargando…',
  'watch.noTranscript': 'No se puede cargar la transcripción.',
  'watch.matches': '{count, plural, one {# resultado} many {# resultados} other {# resultados}}',
  'watch.live': 'En directo',
  'watch.share': 'Compartir',
  'watch.theatre': 'Modo cine',
  'watch.showMore': 'Mostrar más',
  'watch.showLess': 'Mostrar menos',
  'watch.streamRecorded': 'La última emisión se grabó.',
  'watch.watchRecording': 'Ver la grabación',
  'watch.streamEnded': 'La emisión ha terminado. Estás viendo la grabación.',
  'watch.openRecording': 'Abrir la página de la grabación',
  'watch.liveAgain': 'La emisión vuelve a estar en directo.',
  'watch.watchLive': 'Ver en directo',
  'watch.upNext': 'A continuación',
  'watch.moreVideos': 'Más vídeos',
  'watch.starts': 'Empieza el {time}',
  'watch.startPlanned': 'Inicio previsto: {time}. La emisión empieza aquí en cuanto esté en directo.',
  'watch.addToCalendar': 'Añadir al calendario',
  'watch.viewers': '{count, plural, one {# espectador} other {# espectadores}}',
};

export default messages;

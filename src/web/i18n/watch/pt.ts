import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'watch.chapters': 'Capítulos',
  'watch.transcript': 'Transcrição',
  'watch.searchTranscript': 'Pesquisar na transcrição',
  'watch.language': 'Idioma',
  'watch.followPlayback': 'Acompanhar a reprodução',
  'watch.loading': 'Carregando…',
  'watch.noTranscript': 'Não foi possível carregar a transcrição.',
  'watch.matches': '{count, plural, one {# resultado} many {# resultados} other {# resultados}}',
  'watch.live': 'Ao vivo',
  'watch.share': 'Compartilhar',
  'watch.theatre': 'Modo teatro',
  'watch.showMore': 'Mostrar mais',
  'watch.showLess': 'Mostrar menos',
  'watch.streamRecorded': 'A última transmissão foi gravada.',
  'watch.watchRecording': 'Assistir à gravação',
  'watch.streamEnded': 'A transmissão terminou. Você está assistindo à gravação.',
  'watch.openRecording': 'Abrir a página da gravação',
  'watch.liveAgain': 'A transmissão está ao vivo novamente.',
  'watch.watchLive': 'Assistir ao vivo',
  'watch.upNext': 'A seguir',
  'watch.moreVideos': 'Mais vídeos',
  'watch.starts': 'Início: {time}',
  'watch.startPlanned': 'Início previsto: {time}. A transmissão começa aqui assim que estiver ao vivo.',
  'watch.addToCalendar': 'Adicionar ao calendário',
  'watch.viewers': '{count, plural, one {# espectador} other {# espectadores}}',
};

export default messages;

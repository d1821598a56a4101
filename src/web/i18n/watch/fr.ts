import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'watch.chapters': 'Chapitres',
  'watch.transcript': 'Transcription',
  'watch.searchTranscript': 'Rechercher dans la transcription',
  'watch.language': 'Langue',
  'watch.followPlayback': 'Suivre la lecture',
  'watch.loading': 'Chargement…',
  'watch.noTranscript': 'Impossible de charger la transcription.',
  'watch.matches': '{count, plural, one {# résultat} many {# résultats} other {# résultats}}',
  'watch.live': 'En direct',
  'watch.share': 'Partager',
  'watch.theatre': 'Mode cinéma',
  'watch.showMore': 'Afficher plus',
  'watch.showLess': 'Afficher moins',
  'watch.streamRecorded': 'La dernière diffusion a été enregistrée.',
  'watch.watchRecording': 'Voir l’enregistrement',
  'watch.streamEnded': 'La diffusion est terminée. Vous regardez l’enregistrement.',
  'watch.openRecording': 'Ouvrir la page de l’enregistrement',
  'watch.liveAgain': 'La diffusion a repris.',
  'watch.watchLive': 'Regarder en direct',
  'watch.upNext': 'À suivre',
  'watch.moreVideos': 'Autres vidéos',
  'watch.starts': 'Début : {time}',
  'watch.startPlanned': 'Début prévu : {time}. Le direct commence ici dès qu’il est en ligne.',
  'watch.addToCalendar': 'Ajouter à l’agenda',
  'watch.viewers': '{count, plural, one {# spectateur} other {# spectateurs}}',
};

export default messages;

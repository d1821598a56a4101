import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'watch.chapters': 'Kapitel',
  'watch.transcript': 'Transkript',
  'watch.searchTranscript': 'Im Transkript suchen',
  'watch.language': 'Sprache',
  'watch.followPlayback': 'Wiedergabe folgen',
  'watch.loading': 'Wird geladen …',
  'watch.noTranscript': 'Das Transkript kann nicht geladen werden.',
  'watch.matches': '{count, plural, one {# Treffer} other {# Treffer}}',
  'watch.live': 'Live',
  'watch.share': 'Teilen',
  'watch.theatre': 'Kinomodus',
  'watch.showMore': 'Mehr anzeigen',
  'watch.showLess': 'Weniger anzeigen',
  'watch.streamRecorded': 'Der letzte Stream wurde aufgezeichnet.',
  'watch.watchRecording': 'Aufzeichnung ansehen',
  'watch.streamEnded': 'Der Stream ist beendet. Sie sehen die Aufzeichnung.',
  'watch.openRecording': 'Seite der Aufzeichnung öffnen',
  'watch.liveAgain': 'Der Stream ist wieder live.',
  'watch.watchLive': 'Live ansehen',
  'watch.upNext': 'Nächstes Video',
  'watch.moreVideos': 'Weitere Videos',
  'watch.starts': 'Beginnt am {time}',
  'watch.startPlanned': 'Geplanter Beginn: {time}. Der Stream startet hier, sobald er live ist.',
  'watch.addToCalendar': 'Zum Kalender hinzufügen',
  'watch.viewers': '{count, plural, one {# Zuschauer} other {# Zuschauer}}',
};

export default messages;

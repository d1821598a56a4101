import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': 'Stream nicht gefunden',
  'pages.videoMissingTitle': 'Video nicht gefunden',
  'pages.streamMissingText':
    'Der Link enthält vielleicht einen Tippfehler, oder der Stream wurde entfernt oder ist privat.',
  'pages.videoMissingText':
    'Der Link enthält vielleicht einen Tippfehler, oder das Video wurde entfernt oder ist privat.',
  'pages.tokenTitle': 'Dieser Link funktioniert bei Ihnen nicht',
  'pages.tokenText':
    'Ein privater Link gilt für einen Zuschauer und nur eine begrenzte Zeit. Bitten Sie die Person, die ihn gesendet hat, um einen neuen.',
  'pages.refusedTitle': 'Die Wiedergabe ist hier nicht möglich',
  'pages.refused.site':
    'Die Wiedergabe ist auf dieser Website nicht erlaubt. Öffnen Sie sie auf einer Website, die der Anbieter erlaubt.',
  'pages.refused.no-site':
    'Die Wiedergabe ist auf bestimmte Websites beschränkt. Öffnen Sie die Seite, in die der Player eingebettet ist.',
  'pages.refused.country': 'Die Wiedergabe ist in Ihrem Land nicht erlaubt.',
  'pages.refused.expired':
    'Dieser Link ist abgelaufen. Öffnen Sie die Seite noch einmal, um einen neuen zu erhalten.',
  'pages.refused.clip-expired':
    'Dieser Link zum Clip ist abgelaufen. Holen Sie sich einen neuen auf der Website, die ihn geteilt hat.',
  'pages.notFoundTitle': 'Seite nicht gefunden',
  'pages.notFoundText': 'Der Link enthält vielleicht einen Tippfehler, oder die Seite wurde verschoben.',
  'pages.toStart': 'Zur Startseite',
  'pages.channel.videos': 'Videos',
  'pages.channel.results': 'Suchergebnisse',
  'pages.channel.search': 'Videos suchen',
  'pages.channel.find': 'Suchen',
  'pages.channel.noResults': 'Keine Videos entsprechen Ihrer Suche.',
  'pages.channel.empty': 'Noch keine Videos. Schauen Sie bald wieder vorbei.',
  'pages.channel.noMore': 'Es gibt keine älteren Videos.',
  'pages.channel.older': 'Ältere Videos',
  'pages.channel.newest': 'Neueste Videos',
  'pages.channel.all': 'Alle Videos',
  'pages.channel.live': 'Live',
  'pages.channel.alsoLive': 'Ebenfalls live',
  'pages.channel.watchLive': 'Live ansehen',
  'pages.channel.watching': 'Zuschauer jetzt:',
  'pages.channel.upcoming': 'Demnächst',
  'pages.channel.calendar': 'Zum Kalender hinzufügen',
  'pages.channel.feed': 'RSS-Feed',
};

export default messages;

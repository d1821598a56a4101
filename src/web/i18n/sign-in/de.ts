import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'signIn.title': 'Bei Millrace anmelden',
  'signIn.documentTitle': 'Anmelden',
  'signIn.signIn': 'Anmelden',
  'signIn.email': 'E-Mail',
  'signIn.password': 'Passwort',
  'signIn.code': 'Code',
  'signIn.codeHint': 'Aus Ihrer Authenticator-App oder ein Wiederherstellungscode.',
  'signIn.forgot': 'Passwort vergessen?',
  'signIn.startOver': 'Von vorn beginnen',
  'signIn.passkey': 'Mit Passkey anmelden',
  'signIn.continueWith': 'Weiter mit {provider}',
  'signIn.tryNow': 'Sie können es jetzt noch einmal versuchen.',
  'signIn.tryIn': 'Neuer Versuch möglich in <b>{time}</b>.',
  'signIn.signedOut': 'Sie wurden abgemeldet. Melden Sie sich an, um dort weiterzumachen, wo Sie waren.',
  'signIn.lostDevice':
    'Wenn Sie Ihr Gerät und Ihre Wiederherstellungscodes verloren haben, kann der Betreiber auf dem Server Folgendes ausführen:',
  'signIn.firstPassword': 'Der Server hat E-Mail-Adresse und Passwort bei seinem ersten Start ausgegeben.',
  'signIn.forgotTitle': 'Passwort vergessen?',
  'signIn.inboxTitle': 'Prüfen Sie Ihren Posteingang',
  'signIn.forgotText':
    'Geben Sie Ihre E-Mail-Adresse ein. Wir senden Ihnen einen Link, mit dem Sie ein neues Passwort festlegen.',
  'signIn.sendLink': 'Link senden',
  'signIn.back': 'Zurück zur Anmeldung',
  'signIn.sent':
    'Falls es zu <b>{email}</b> ein Benutzerkonto gibt, haben wir einen Link dorthin gesendet. Er funktioniert einmal und eine Stunde lang.',
  'signIn.spam':
    'Nach ein paar Minuten noch keine E-Mail? Sehen Sie im Spam-Ordner nach und prüfen Sie die Adresse.',
  'signIn.sendAnother': 'Noch einen Link senden',
  'signIn.withoutMail':
    'Dieser Server kann keine E-Mails senden. Bitten Sie den Betreiber um ein neues Passwort. Er führt dazu auf dem Server Folgendes aus:',
  'signIn.newPassword': 'Neues Passwort festlegen',
  'signIn.newPasswordFor': 'Für <b>{email}</b>.',
  'signIn.newPasswordLabel': 'Neues Passwort',
  'signIn.chosenPassword': 'Passwort wählen',
  'signIn.confirmPassword': 'Neues Passwort bestätigen',
  'signIn.passwordsDiffer': 'Die Passwörter stimmen nicht überein.',
  'signIn.setPassword': 'Passwort festlegen',
  'signIn.changedTitle': 'Ihr Passwort wurde geändert',
  'signIn.changedText': 'Melden Sie sich mit Ihrem neuen Passwort an.',
  'signIn.linkUsed':
    'Dieser Link funktioniert nicht mehr. Ein Link funktioniert einmal, eine Stunde lang und nur, bis Sie einen neuen anfordern.',
  'signIn.newLink': 'Neuen Link anfordern',
  'signIn.passkeysToKeep': 'Passkeys, die bleiben sollen',
  'signIn.sessionsToKeep': 'Sitzungen, die bleiben sollen',
  'signIn.othersRemoved': 'Alle anderen werden entfernt.',
  'signIn.sessionItem': '{client}, von {address}, zuletzt verwendet: {date}',
  'signIn.unverified':
    'Diese Adresse ist noch nicht bestätigt. Mit dem neuen Passwort wird sie bestätigt, und alles bisher Eingerichtete wird entfernt: Passkeys, Zwei-Faktor-Anmeldung, Sitzungen und API-Schlüssel.',
  'signIn.minLength': 'Verwenden Sie mindestens {count, plural, one {# Zeichen} other {# Zeichen}}.',
  'signIn.tooShort': 'Zu kurz: noch {count, plural, one {# Zeichen} other {# Zeichen}}.',
  'signIn.tooLong': 'Zu lang: höchstens {count, plural, one {# Zeichen} other {# Zeichen}}.',
  'signIn.isEmail': 'Ihre E-Mail-Adresse kann nicht Ihr Passwort sein.',
  'signIn.weak':
    'Schwach: leicht zu erraten. Verwenden Sie mehrere Wörter, die nichts miteinander zu tun haben.',
  'signIn.fair': 'Mittel: Machen Sie es länger.',
  'signIn.good': 'Gut.',
  'signIn.strong': 'Stark.',
  'signIn.invitationTitle': 'Einem Team bei Millrace beitreten',
  'signIn.invitation': 'Einladung',
  'signIn.invitationUsed':
    'Diese Einladung gilt nicht mehr. Sie wurde angenommen oder zurückgezogen, oder sie ist abgelaufen. Bitten Sie um eine neue.',
  'signIn.invitationText':
    'Sie sind als {role, select, owner {Inhaber} editor {Bearbeiter} other {Betrachter}} zu <b>{account}</b> eingeladen. Die Einladung gilt für <b>{email}</b>.',
  'signIn.otherUser':
    'Sie sind als {email} angemeldet. Melden Sie sich ab und öffnen Sie den Link noch einmal.',
  'signIn.signInToAccept': 'Anmelden und annehmen',
  'signIn.accept': 'Einladung annehmen',
  'signIn.signingIn': 'Sie werden angemeldet …',
  'signIn.backToInvitation': 'Zurück zur Einladung',
  'signIn.verifiedTitle': 'Ihre E-Mail-Adresse ist bestätigt',
  'signIn.verified': 'Bestätigt',
  'signIn.verifiedText':
    'Jemand hatte mit Ihrer Adresse einen Benutzer eingerichtet, bevor sie bestätigt war. Damit niemand sonst Zugang hat, wurde Folgendes entfernt oder funktioniert nicht mehr:',
  'signIn.removedPassword': 'Das Passwort',
  'signIn.removedTwoFactor': 'Zwei-Faktor-Anmeldung',
  'signIn.removed.passkeys': '{count, plural, one {# Passkey} other {# Passkeys}}',
  'signIn.removed.sessions': '{count, plural, one {# Sitzung} other {# Sitzungen}}',
  'signIn.removed.apiKeys': '{count, plural, one {# API-Schlüssel} other {# API-Schlüssel}}',
  'signIn.removed.signingKeys': '{count, plural, one {# Signaturschlüssel} other {# Signaturschlüssel}}',
  'signIn.removed.uploadTokens': '{count, plural, one {# Upload-Token} other {# Upload-Tokens}}',
  'signIn.removed.streamKeys': '{count, plural, one {# Streamschlüssel} other {# Streamschlüssel}}',
  'signIn.removed.webhooks': '{count, plural, one {# Webhook} other {# Webhooks}}',
  'signIn.removed.hooks': '{count, plural, one {# Hook} other {# Hooks}}',
  'signIn.removed.destinations':
    '{count, plural, one {# Weiterleitung, Quelle oder Player-Link} other {# Weiterleitungen, Quellen und Player-Links}}',
  'signIn.removed.invitations': '{count, plural, one {# Einladung} other {# Einladungen}}',
  'signIn.removed.members':
    '{count, plural, one {# Mitgliedschaft anderer} other {# Mitgliedschaften anderer}}',
  'signIn.unknownKeys':
    'Bei {count, plural, one {# der übrigen API-Schlüssel} other {# der übrigen API-Schlüssel}} Ihrer Konten weiß der Server nicht, wer sie erstellt hat. Löschen Sie auf der Seite „API keys“ alle, die Sie nicht kennen.',
  'signIn.continue': 'Weiter',
  'signIn.unknownClient': 'Unbekanntes Programm',
  'signIn.browserOn': 'Browser unter {system}',
  'signIn.clientOn': '{client} unter {system}',
};

export default messages;

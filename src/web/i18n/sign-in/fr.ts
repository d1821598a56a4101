import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'signIn.title': 'Se connecter à Millrace',
  'signIn.documentTitle': 'Connexion',
  'signIn.signIn': 'Se connecter',
  'signIn.email': 'E-mail',
  'signIn.password': 'Mot de passe',
  'signIn.code': 'Code',
  'signIn.codeHint': 'Celui de votre application d’authentification, ou un code de récupération.',
  'signIn.forgot': 'Mot de passe oublié ?',
  'signIn.startOver': 'Recommencer',
  'signIn.passkey': 'Se connecter avec une clé d’accès',
  'signIn.continueWith': 'Continuer avec {provider}',
  'signIn.tryNow': 'Vous pouvez réessayer maintenant.',
  'signIn.tryIn': 'Vous pourrez réessayer dans <b>{time}</b>.',
  'signIn.signedOut': 'Vous avez été déconnecté. Connectez-vous pour reprendre là où vous en étiez.',
  'signIn.lostDevice':
    'Si vous avez perdu votre appareil et vos codes de récupération, l’opérateur peut exécuter cette commande sur le serveur :',
  'signIn.firstPassword':
    'Le serveur a affiché votre e-mail et votre mot de passe lors de son premier démarrage.',
  'signIn.forgotTitle': 'Mot de passe oublié ?',
  'signIn.inboxTitle': 'Consultez votre boîte de réception',
  'signIn.forgotText':
    'Saisissez votre adresse e-mail. Nous vous enverrons un lien pour définir un nouveau mot de passe.',
  'signIn.sendLink': 'Envoyer le lien',
  'signIn.back': 'Retour à la connexion',
  'signIn.sent':
    'Si un utilisateur a l’adresse <b>{email}</b>, nous lui avons envoyé un lien. Il fonctionne une seule fois, pendant une heure.',
  'signIn.spam': 'Toujours pas d’e-mail après quelques minutes ? Consultez vos spams et vérifiez l’adresse.',
  'signIn.sendAnother': 'Envoyer un autre lien',
  'signIn.withoutMail':
    'Ce serveur ne peut pas envoyer d’e-mails. Demandez un nouveau mot de passe à son opérateur, qui exécutera cette commande sur le serveur :',
  'signIn.newPassword': 'Définir un nouveau mot de passe',
  'signIn.newPasswordFor': 'Pour <b>{email}</b>.',
  'signIn.newPasswordLabel': 'Nouveau mot de passe',
  'signIn.chosenPassword': 'Choisir un mot de passe',
  'signIn.confirmPassword': 'Confirmer le nouveau mot de passe',
  'signIn.passwordsDiffer': 'Les mots de passe ne correspondent pas.',
  'signIn.setPassword': 'Définir le mot de passe',
  'signIn.changedTitle': 'Votre mot de passe a été modifié',
  'signIn.changedText': 'Connectez-vous avec votre nouveau mot de passe.',
  'signIn.linkUsed':
    'Ce lien ne fonctionne plus. Un lien fonctionne une seule fois, pendant une heure, et seulement jusqu’à la demande du suivant.',
  'signIn.newLink': 'Demander un nouveau lien',
  'signIn.passkeysToKeep': 'Clés d’accès à conserver',
  'signIn.sessionsToKeep': 'Sessions à conserver',
  'signIn.othersRemoved': 'Toutes les autres seront supprimées.',
  'signIn.sessionItem': '{client}, depuis {address}, dernière utilisation : {date}',
  'signIn.unverified':
    'Cette adresse n’est pas encore validée. Définir un mot de passe la valide et supprime tout ce qui avait été configuré auparavant : clés d’accès, double authentification, sessions et clés API.',
  'signIn.minLength': 'Utilisez au moins {count, plural, one {# caractère} other {# caractères}}.',
  'signIn.tooShort': 'Trop court : encore {count, plural, one {# caractère} other {# caractères}}.',
  'signIn.tooLong': 'Trop long : {count, plural, one {# caractère} other {# caractères}} au maximum.',
  'signIn.isEmail': 'Votre adresse e-mail ne peut pas être votre mot de passe.',
  'signIn.weak': 'Faible : facile à deviner. Utilisez plusieurs mots sans rapport entre eux.',
  'signIn.fair': 'Moyen : allongez-le.',
  'signIn.good': 'Bon.',
  'signIn.strong': 'Très bon.',
  'signIn.invitationTitle': 'Rejoindre une équipe sur Millrace',
  'signIn.invitation': 'Invitation',
  'signIn.invitationUsed':
    'Cette invitation n’est plus valable. Elle a été acceptée ou retirée, ou elle a expiré. Demandez-en une nouvelle.',
  'signIn.invitationText':
    'Vous êtes invité à rejoindre <b>{account}</b> en tant {role, select, owner {que propriétaire} editor {qu’éditeur} other {que lecteur}}. L’invitation est destinée à <b>{email}</b>.',
  'signIn.otherUser': 'Vous êtes connecté en tant que {email}. Déconnectez-vous, puis rouvrez le lien.',
  'signIn.signInToAccept': 'Se connecter pour accepter',
  'signIn.accept': 'Accepter l’invitation',
  'signIn.signingIn': 'Connexion en cours…',
  'signIn.backToInvitation': 'Retour à l’invitation',
  'signIn.verifiedTitle': 'Votre adresse e-mail est validée',
  'signIn.verified': 'Validée',
  'signIn.verifiedText':
    'Quelqu’un avait créé un utilisateur avec votre adresse avant qu’elle ne soit validée. Pour que personne d’autre n’ait accès, les éléments suivants ont été supprimés ou ne fonctionnent plus :',
  'signIn.removedPassword': 'Le mot de passe',
  'signIn.removedTwoFactor': 'La double authentification',
  'signIn.removed.passkeys': '{count, plural, one {# clé d’accès} other {# clés d’accès}}',
  'signIn.removed.sessions': '{count, plural, one {# session} other {# sessions}}',
  'signIn.removed.apiKeys': '{count, plural, one {# clé API} other {# clés API}}',
  'signIn.removed.signingKeys': '{count, plural, one {# clé de signature} other {# clés de signature}}',
  'signIn.removed.uploadTokens': '{count, plural, one {# jeton d’import} other {# jetons d’import}}',
  'signIn.removed.streamKeys': '{count, plural, one {# clé de stream} other {# clés de stream}}',
  'signIn.removed.webhooks': '{count, plural, one {# webhook} other {# webhooks}}',
  'signIn.removed.hooks': '{count, plural, one {# hook} other {# hooks}}',
  'signIn.removed.destinations':
    '{count, plural, one {# retransmission, source ou lien de lecteur} other {# retransmissions, sources et liens de lecteur}}',
  'signIn.removed.invitations': '{count, plural, one {# invitation} other {# invitations}}',
  'signIn.removed.members':
    '{count, plural, one {# adhésion d’une autre personne} other {# adhésions d’autres personnes}}',
  'signIn.unknownKeys':
    'Le serveur ne sait pas qui a créé {count, plural, one {# des clés API restantes} other {# des clés API restantes}} de vos comptes. Supprimez celles que vous ne reconnaissez pas sur la page « API keys ».',
  'signIn.continue': 'Continuer',
  'signIn.unknownClient': 'Client inconnu',
  'signIn.browserOn': 'Navigateur sur {system}',
  'signIn.clientOn': '{client} sur {system}',
};

export default messages;

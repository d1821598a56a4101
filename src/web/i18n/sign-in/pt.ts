import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'signIn.title': 'Entrar no Millrace',
  'signIn.documentTitle': 'Entrar',
  'signIn.signIn': 'Entrar',
  'signIn.email': 'E-mail',
  'signIn.password': 'Senha',
  'signIn.code': 'Código',
  'signIn.codeHint': 'Do seu app autenticador ou um código de recuperação.',
  'signIn.forgot': 'Esqueceu sua senha?',
  'signIn.startOver': 'Recomeçar',
  'signIn.passkey': 'Entrar com uma chave de acesso',
  'signIn.continueWith': 'Continuar com {provider}',
  'signIn.tryNow': 'Você já pode tentar novamente.',
  'signIn.tryIn': 'Você poderá tentar novamente em <b>{time}</b>.',
  'signIn.signedOut': 'Sua sessão foi encerrada. Entre para continuar de onde parou.',
  'signIn.lostDevice':
    'Se você perdeu o dispositivo e os códigos de recuperação, o operador pode executar isto no servidor:',
  'signIn.firstPassword': 'O servidor mostrou seu e-mail e sua senha quando foi iniciado pela primeira vez.',
  'signIn.forgotTitle': 'Esqueceu sua senha?',
  'signIn.inboxTitle': 'Verifique sua caixa de entrada',
  'signIn.forgotText': 'Informe seu endereço de e-mail. Enviaremos um link para você definir uma nova senha.',
  'signIn.sendLink': 'Enviar link',
  'signIn.back': 'Voltar para o login',
  'signIn.sent':
    'Se houver um usuário com o endereço <b>{email}</b>, enviamos um link para ele. Ele funciona uma única vez, durante uma hora.',
  'signIn.spam':
    'Nenhum e-mail depois de alguns minutos? Verifique a pasta de spam e confira se o endereço está correto.',
  'signIn.sendAnother': 'Enviar outro link',
  'signIn.withoutMail':
    'Este servidor não pode enviar e-mails. Peça uma nova senha ao operador, que executará isto no servidor:',
  'signIn.newPassword': 'Definir uma nova senha',
  'signIn.newPasswordFor': 'Para <b>{email}</b>.',
  'signIn.newPasswordLabel': 'Nova senha',
  'signIn.chosenPassword': 'Escolha uma senha',
  'signIn.confirmPassword': 'Confirmar nova senha',
  'signIn.passwordsDiffer': 'As senhas não coincidem.',
  'signIn.setPassword': 'Definir senha',
  'signIn.changedTitle': 'Sua senha foi alterada',
  'signIn.changedText': 'Entre com sua nova senha.',
  'signIn.linkUsed':
    'Este link não funciona mais. Um link funciona uma única vez, durante uma hora e só até você pedir outro.',
  'signIn.newLink': 'Pedir um novo link',
  'signIn.passkeysToKeep': 'Chaves de acesso a manter',
  'signIn.sessionsToKeep': 'Sessões a manter',
  'signIn.othersRemoved': 'Todas as outras serão removidas.',
  'signIn.sessionItem': '{client}, de {address}, último uso: {date}',
  'signIn.unverified':
    'Este endereço ainda não foi verificado. Definir uma senha o verifica e remove tudo o que foi configurado antes: chaves de acesso, verificação em duas etapas, sessões e chaves de API.',
  'signIn.minLength': 'Use pelo menos {count, plural, one {# caractere} other {# caracteres}}.',
  'signIn.tooShort': 'Muito curta: {count, plural, one {falta # caractere} other {faltam # caracteres}}.',
  'signIn.tooLong': 'Muito longa: use no máximo {count, plural, one {# caractere} other {# caracteres}}.',
  'signIn.isEmail': 'Seu endereço de e-mail não pode ser sua senha.',
  'signIn.weak': 'Fraca: fácil de adivinhar. Use algumas palavras sem relação entre si.',
  'signIn.fair': 'Razoável: deixe-a mais longa.',
  'signIn.good': 'Boa.',
  'signIn.strong': 'Forte.',
  'signIn.invitationTitle': 'Entrar em uma equipe no Millrace',
  'signIn.invitation': 'Convite',
  'signIn.invitationUsed':
    'Este convite não é mais válido. Ele foi aceito ou cancelado, ou expirou. Peça um novo.',
  'signIn.invitationText':
    'Você foi convidado para participar de <b>{account}</b> como {role, select, owner {proprietário} editor {editor} other {leitor}}. O convite é para <b>{email}</b>.',
  'signIn.otherUser': 'Você entrou como {email}. Saia e abra o link novamente.',
  'signIn.signInToAccept': 'Entrar para aceitar',
  'signIn.accept': 'Aceitar convite',
  'signIn.signingIn': 'Entrando…',
  'signIn.backToInvitation': 'Voltar para o convite',
  'signIn.verifiedTitle': 'Seu endereço de e-mail foi verificado',
  'signIn.verified': 'Verificado',
  'signIn.verifiedText':
    'Alguém havia criado um usuário com seu endereço antes da verificação. Para impedir o acesso de outras pessoas, os itens a seguir foram removidos ou não funcionam mais:',
  'signIn.removedPassword': 'A senha',
  'signIn.removedTwoFactor': 'A verificação em duas etapas',
  'signIn.removed.passkeys': '{count, plural, one {# chave de acesso} other {# chaves de acesso}}',
  'signIn.removed.sessions': '{count, plural, one {# sessão} other {# sessões}}',
  'signIn.removed.apiKeys': '{count, plural, one {# chave de API} other {# chaves de API}}',
  'signIn.removed.signingKeys': '{count, plural, one {# chave de assinatura} other {# chaves de assinatura}}',
  'signIn.removed.uploadTokens': '{count, plural, one {# token de envio} other {# tokens de envio}}',
  'signIn.removed.streamKeys':
    '{count, plural, one {# chave de transmissão} other {# chaves de transmissão}}',
  'signIn.removed.webhooks': '{count, plural, one {# webhook} other {# webhooks}}',
  'signIn.removed.hooks': '{count, plural, one {# hook} other {# hooks}}',
  'signIn.removed.destinations':
    '{count, plural, one {# retransmissão, fonte ou link de player} other {# retransmissões, fontes e links de player}}',
  'signIn.removed.invitations': '{count, plural, one {# convite} other {# convites}}',
  'signIn.removed.members':
    '{count, plural, one {# participação de outra pessoa} other {# participações de outras pessoas}}',
  'signIn.unknownKeys':
    'O servidor não sabe quem criou {count, plural, one {# das chaves de API restantes} other {# das chaves de API restantes}} das suas contas. Exclua as que você não reconhece na página “API keys”.',
  'signIn.continue': 'Continuar',
  'signIn.unknownClient': 'Cliente desconhecido',
  'signIn.browserOn': 'Navegador no {system}',
  'signIn.clientOn': '{client} no {system}',
};

export default messages;

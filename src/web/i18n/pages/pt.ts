import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': 'Transmissão não encontrada',
  'pages.videoMissingTitle': 'Vídeo não encontrado',
  'pages.streamMissingText': 'O link pode ter um erro, ou a transmissão foi removida ou é privada.',
  'pages.videoMissingText': 'O link pode ter um erro, ou o vídeo foi removido ou é privado.',
  'pages.tokenTitle': 'Este link não funciona para você',
  'pages.tokenText':
    'Um link privado vale para um único espectador e por tempo limitado. Peça um novo a quem o enviou.',
  'pages.refusedTitle': 'Não é possível reproduzir aqui',
  'pages.refused.site':
    'A reprodução não é permitida neste site. Abra em um site permitido pelo proprietário.',
  'pages.refused.no-site':
    'A reprodução é limitada a determinados sites. Abra a página que incorpora o player.',
  'pages.refused.country': 'A reprodução não é permitida no seu país.',
  'pages.refused.expired': 'Este link expirou. Abra a página novamente para obter um novo.',
  'pages.refused.clip-expired': 'Este link do clipe expirou. Obtenha um novo no site que o compartilhou.',
  'pages.notFoundTitle': 'Página não encontrada',
  'pages.notFoundText': 'O link pode ter um erro, ou a página foi movida.',
  'pages.toStart': 'Ir para a página inicial',
  'pages.channel.videos': 'Vídeos',
  'pages.channel.results': 'Resultados da pesquisa',
  'pages.channel.search': 'Pesquisar vídeos',
  'pages.channel.find': 'Pesquisar',
  'pages.channel.noResults': 'Nenhum vídeo corresponde à sua pesquisa.',
  'pages.channel.empty': 'Ainda não há vídeos. Volte em breve.',
  'pages.channel.noMore': 'Não há vídeos mais antigos.',
  'pages.channel.older': 'Vídeos mais antigos',
  'pages.channel.newest': 'Vídeos mais recentes',
  'pages.channel.all': 'Todos os vídeos',
  'pages.channel.live': 'Ao vivo',
  'pages.channel.alsoLive': 'Também ao vivo',
  'pages.channel.watchLive': 'Assistir ao vivo',
  'pages.channel.watching': 'Assistindo agora:',
  'pages.channel.upcoming': 'Em breve',
  'pages.channel.calendar': 'Adicionar ao calendário',
  'pages.channel.feed': 'Feed RSS',
};

export default messages;

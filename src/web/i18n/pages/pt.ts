import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': 'Transmissão não encontrada',
  'pages.videoMissingTitle': 'Vídeo não encontrado',
  'pages.streamMissingText': 'O link pode ter um erro, ou a transmissão foi removida ou é privada.',
  'pages.videoMissingText': 'O link pode ter um erro, ou o vídeo foi removido ou é privado.',
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
};

export default messages;

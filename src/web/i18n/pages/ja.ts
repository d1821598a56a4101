import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'pages.streamMissingTitle': '配信が見つかりません',
  'pages.videoMissingTitle': '動画が見つかりません',
  'pages.streamMissingText': 'リンクに誤りがあるか、配信が削除されたか、非公開になっています。',
  'pages.videoMissingText': 'リンクに誤りがあるか、動画が削除されたか、非公開になっています。',
  'pages.tokenTitle': 'このリンクは使用できません',
  'pages.tokenText':
    '非公開のリンクは視聴者 1 人が一定時間だけ使えます。リンクの送信者に新しいリンクを依頼してください。',
  'pages.refusedTitle': 'ここでは再生できません',
  'pages.refused.site': 'このサイトでは再生が許可されていません。所有者が許可したサイトで開いてください。',
  'pages.refused.no-site':
    '再生できるサイトが限られています。プレーヤーが埋め込まれたページを開いてください。',
  'pages.refused.country': 'お住まいの国では再生が許可されていません。',
  'pages.refused.expired':
    'このリンクの有効期限が切れています。ページを開き直して新しいリンクを取得してください。',
  'pages.refused.clip-expired':
    'このクリップのリンクの有効期限が切れています。共有元のサイトで新しいリンクを取得してください。',
  'pages.notFoundTitle': 'ページが見つかりません',
  'pages.notFoundText': 'リンクに誤りがあるか、ページが移動されました。',
  'pages.toStart': 'トップページへ',
  'pages.channel.videos': '動画',
  'pages.channel.results': '検索結果',
  'pages.channel.search': '動画を検索',
  'pages.channel.find': '検索',
  'pages.channel.noResults': '検索条件に一致する動画はありません。',
  'pages.channel.empty': '動画はまだありません。しばらくしてからもう一度ご覧ください。',
  'pages.channel.noMore': 'これより古い動画はありません。',
  'pages.channel.older': '古い動画',
  'pages.channel.newest': '最新の動画',
  'pages.channel.all': 'すべての動画',
  'pages.channel.live': 'ライブ',
  'pages.channel.alsoLive': 'ほかのライブ',
  'pages.channel.watchLive': 'ライブを視聴',
  'pages.channel.watching': '視聴中：',
  'pages.channel.upcoming': '配信予定',
  'pages.channel.calendar': 'カレンダーに追加',
  'pages.channel.feed': 'RSS フィード',
};

export default messages;

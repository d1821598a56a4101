import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'watch.chapters': 'チャプター',
  'watch.transcript': '文字起こし',
  'watch.searchTranscript': '文字起こしを検索',
  'watch.language': '言語',
  'watch.followPlayback': '再生に合わせてスクロール',
  'watch.loading': '読み込み中…',
  'watch.noTranscript': '文字起こしを読み込めません。',
  'watch.matches': '{count, plural, other {#件一致}}',
  'watch.live': 'ライブ',
  'watch.share': '共有',
  'watch.theatre': 'シアターモード',
  'watch.showMore': 'もっと見る',
  'watch.showLess': '一部を表示',
  'watch.streamRecorded': '前回の配信は録画されています。',
  'watch.watchRecording': '録画を見る',
  'watch.streamEnded': '配信は終了しました。録画を表示しています。',
  'watch.openRecording': '録画のページを開く',
  'watch.liveAgain': '配信が再開しました。',
  'watch.watchLive': 'ライブを視聴',
  'watch.upNext': '次の動画',
  'watch.moreVideos': 'その他の動画',
  'watch.starts': '{time} に開始',
  'watch.startPlanned': '開始予定: {time}。配信が始まると、ここで再生されます。',
  'watch.addToCalendar': 'カレンダーに追加',
  'watch.viewers': '{count, plural, other {# 人が視聴中}}',
};

export default messages;

import type { TranslationOf } from '../catalogue.ts';
import type en from './en.ts';

const messages: TranslationOf<typeof en> = {
  'encoder.source': 'ソース',
  'encoder.unknown': 'エンコーダー',
  'refusal.title': '{encoder} は拒否されました',
  'refusal.titleFrom': '{address} からの {encoder} は拒否されました',
  'refusal.times': '{count, plural, other {#回}}、最後は<t>{time}</t>',
  'refusal.endedByYou':
    '放送を終了しました。{address} のエンコーダー「{name}」は、接続しない状態が1分間続くまで拒否されます。',
  'refusal.endedByYouUnnamed':
    '放送を終了しました。{address} のエンコーダーは、接続しない状態が1分間続くまで拒否されます。',
  'refusal.allowAgain': '再び許可',
  'refusal.allowed': 'エンコーダーは再びライブ配信できます。',
  'alarm.keyframesTooFarApart': 'キーフレームの間隔が長すぎます',
  'alarm.bitrateCollapsed': 'ビットレートが急落しました',
  'alarm.bitrateLow': 'ビットレートが低すぎます',
  'alarm.frameRateCollapsed': 'フレームレートが急落しました',
  'alarm.audioMissing': '音声がありません',
  'alarm.videoMissing': '映像がありません',
  'alarm.timestampsJumping': 'タイムスタンプが飛んでいます',
  'alarm.audioVideoDrift': '音声と映像がずれています',
  'alarm.frequentReconnects': 'エンコーダーが頻繁に再接続しています',
  'capture.needsHttps':
    'ブラウザーがカメラとマイクを許可するのは、HTTPS のページと localhost だけです。このサーバーに証明書を設定し、このページを HTTPS で開いてください。',
  'capture.noWebRtc':
    'このブラウザーは WebRTC で映像を送信できません。最新の Chrome か Firefox、または OBS Studio をお使いください。',
  'capture.notAllowed':
    'ブラウザーがこのページでの{source, select, camera {カメラ} other {マイク}}の使用を許可していません。アドレスの横のアイコンから許可して、もう一度お試しください。',
  'capture.notFound':
    '{source, select, camera {カメラ} microphone {マイク} other {画面}}が見つかりません。接続して、もう一度お試しください。',
  'capture.disconnected':
    'この{source, select, camera {カメラ} microphone {マイク} other {画面}}は接続されていません。別のものを選んでください。',
  'capture.inUse':
    '{source, select, camera {カメラ} microphone {マイク} other {画面}}を使用できません。使用中のほかのアプリを閉じて、もう一度お試しください。',
  'capture.failed':
    '{source, select, camera {カメラ} microphone {マイク} other {画面}}を使用できません: {reason}',
};

export default messages;

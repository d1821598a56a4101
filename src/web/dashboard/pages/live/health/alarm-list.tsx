import type { IngestAlarm } from '../../../api/api-types.ts';
import { Notice } from '../../../ui/notice.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';

const titles: Readonly<Record<string, string>> = {
  'keyframes-too-far-apart': 'Keyframes are too far apart',
  'bitrate-collapsed': 'The bitrate has collapsed',
  'bitrate-low': 'The bitrate is too low',
  'frame-rate-collapsed': 'The frame rate has collapsed',
  'audio-missing': 'No audio',
  'video-missing': 'No video',
  'timestamps-jumping': 'Timestamps jump',
  'audio-video-drift': 'Audio and video drift apart',
  'frequent-reconnects': 'The encoder reconnects frequently',
};

export function AlarmList({ alarms }: { alarms: readonly IngestAlarm[] }) {
  return (
    <div class="alarms" role="status">
      {alarms.map(({ alarm, message, raisedAt }) => (
        <Notice key={alarm} tone="warning" title={titles[alarm] ?? alarm}>
          <span>
            {message}{' '}
            <span class="quiet">
              (<RelativeTime time={raisedAt} />)
            </span>
          </span>
        </Notice>
      ))}
    </div>
  );
}

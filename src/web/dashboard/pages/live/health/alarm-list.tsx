import type { IngestAlarm } from '../../../api/api-types.ts';
import { Notice } from '../../../ui/notice.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { alarmTitle } from './alarm-titles.ts';

export function AlarmList({ alarms }: { alarms: readonly IngestAlarm[] }) {
  return (
    <div class="alarms" role="status">
      {alarms.map(({ alarm, message, raisedAt }) => (
        <Notice key={alarm} tone="warning" title={alarmTitle(alarm)}>
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

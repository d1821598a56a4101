import { AnalyticsReport, useAnalytics } from '../analytics/analytics-report.tsx';
import { BreakdownCards } from '../analytics/breakdown-cards.tsx';
import { CurrentViewers } from '../analytics/current-viewers.tsx';
import { ExportMenu } from '../analytics/export-menu.tsx';

export function AnalyticsTab({ videoId }: { videoId: string }) {
  const analytics = useAnalytics(videoId);
  const { question, overTime } = analytics;
  return (
    <div class="stack">
      <div class="toolbar analytics-toolbar">
        {analytics.rangePicker}
        <div class="actions">
          <CurrentViewers mediaId={videoId} />
          <ExportMenu question={question} overTime={overTime.value} />
        </div>
      </div>
      <AnalyticsReport analytics={analytics}>
        <BreakdownCards question={question} />
      </AnalyticsReport>
    </div>
  );
}

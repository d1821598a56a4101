import { t } from '../../texts/server.ts';
import { IconButton } from '../../ui/button.tsx';
import { useLocation } from '../../ui/hooks/use-location.ts';
import { useQuery } from '../../ui/hooks/use-query.ts';
import { Page } from '../../ui/page.tsx';
import { AnalyticsReport, useAnalytics } from './analytics-report.tsx';
import { BreakdownCards } from './breakdown-cards.tsx';
import { CurrentViewers } from './current-viewers.tsx';
import { ExportMenu } from './export-menu.tsx';
import { MediaPicker } from './media-picker.tsx';

export function AnalyticsPage() {
  const { path } = useLocation();
  const { query, change } = useQuery();
  const mediaId = query.media === undefined || query.media === '' ? undefined : query.media;
  const analytics = useAnalytics(mediaId);
  const { question, overTime, refresh } = analytics;
  return (
    <Page
      title={t('analytics.title')}
      badge={<CurrentViewers mediaId={mediaId} />}
      actions={
        <>
          <ExportMenu question={question} overTime={overTime.value} />
          <IconButton icon="refresh" label={t('analytics.refresh')} onClick={refresh} />
        </>
      }
    >
      <div class="toolbar analytics-toolbar">
        <MediaPicker key={mediaId ?? ''} value={mediaId} onValue={media => change({ media })} />
        {analytics.rangePicker}
      </div>
      <AnalyticsReport analytics={analytics}>
        <BreakdownCards
          question={question}
          hrefOf={media => `${path}?${new URLSearchParams({ ...query, media })}`}
        />
      </AnalyticsReport>
    </Page>
  );
}

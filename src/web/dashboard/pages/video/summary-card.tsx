import { call } from '../../api/client.ts';
import { useLoad } from '../../ui/hooks/use-load.ts';
import { Card } from '../../ui/page.tsx';

export function SummaryCard({ videoId }: { videoId: string }) {
  const { value } = useLoad(videoId, async signal => {
    const { data } = await call('GET /summaries', { query: { videoId, pageSize: 1 }, signal });
    const [summary] = data;
    if (summary === undefined || summary.sourceStatus !== 'completed') return undefined;
    const params = { summaryId: summary.summaryId };
    return await call('GET /summaries/{summaryId}/source', { params, signal });
  });
  const { abstract, takeaways = [] } = value ?? {};
  if (abstract === undefined && takeaways.length === 0) return null;
  return (
    <Card title="Summary">
      {abstract !== undefined && <p class="description">{abstract}</p>}
      {takeaways.length > 0 && (
        <ul class="takeaways">
          {takeaways.map((takeaway, index) => (
            <li key={index}>{takeaway}</li>
          ))}
        </ul>
      )}
    </Card>
  );
}

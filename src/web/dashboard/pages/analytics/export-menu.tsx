import { Icon } from '../../ui/icon.tsx';
import { Menu } from '../../ui/menu.tsx';
import { showError } from '../../ui/toast.tsx';
import type { AnalyticsQuery, TimeSeries } from './analytics-data.ts';
import { breakdownCsv, exportFileName, exportNames, saveText, timeSeriesCsv } from './export.ts';

export function ExportMenu({
  question,
  overTime,
}: {
  question: AnalyticsQuery;
  overTime: TimeSeries | undefined;
}) {
  const save = async (name: string) => {
    try {
      const text =
        name === 'over-time' ? overTime && timeSeriesCsv(overTime) : await breakdownCsv(question, name);
      if (text !== undefined) saveText(exportFileName(name, question), text);
    } catch (error) {
      showError(error);
    }
  };
  return (
    <Menu
      label="Export as CSV:"
      items={exportNames.map(([name, label]) => ({ label, onClick: () => void save(name) }))}
    >
      Export
      <Icon name="down" size={16} />
    </Menu>
  );
}

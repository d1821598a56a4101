import { t } from '../../texts/server.ts';
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
      label={t('export.label')}
      items={exportNames.map(name => ({
        label: t(`breakdowns.title.${name}`),
        onClick: () => void save(name),
      }))}
    >
      {t('export.button')}
      <Icon name="down" size={16} />
    </Menu>
  );
}

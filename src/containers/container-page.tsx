import { ContainerDetails } from './container-details.tsx'
import { ContainerStatus } from './container-status.tsx'
import type { ContainerView } from './container-view.ts'
import { ContainerLogPanel } from './log-panel.tsx'
import type { ContainerLog } from './log-panel.tsx'
import { StatsPanel } from './usage/panel.tsx'
import type { ContainerStats } from './usage/panel.tsx'

/** One container: how it fares, what it uses, what it writes, and how it was made. */
export const ContainerPage = ({
  view,
  stats,
  log,
}: {
  view: ContainerView
  stats: ContainerStats
  log: ContainerLog
}) => (
  <>
    <ContainerStatus view={view} />
    <StatsPanel stats={stats} />
    <ContainerLogPanel log={log} />
    <ContainerDetails view={view} />
  </>
)

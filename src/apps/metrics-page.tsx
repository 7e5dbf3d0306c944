import { ProcessUsage } from '../containers/usage/process-charts.tsx'
import type { WorkloadUsage } from '../containers/usage/process-usage.ts'
import { EnvironmentFrame } from '../environments/environment-frame.tsx'
import type { EnvironmentHead } from '../environments/head.ts'
import { metricsPath } from '../environments/paths.ts'
import type { trafficOf } from '../traffic/routes.tsx'
import { TrafficPanel } from '../traffic/traffic-page.tsx'
import { RangeChoice } from '../web/chart.tsx'

type Props = Awaited<ReturnType<typeof trafficOf>> & {
  head: EnvironmentHead
  usage: WorkloadUsage
}

export const MetricsPage = ({ head, usage, traffic, counting }: Props) => {
  const path = metricsPath(head.environment)
  const { range, key } = traffic
  return (
    <EnvironmentFrame head={head} tab="metrics">
      <RangeChoice path={path} query={{ host: key ?? undefined }} range={range} />
      <div class="metrics">
        <ProcessUsage usage={usage} />
        <TrafficPanel {...{ path, traffic, counting }} />
      </div>
    </EnvironmentFrame>
  )
}

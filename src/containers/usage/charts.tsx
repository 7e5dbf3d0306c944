import { bytes, percent, rate } from '../../web/units.ts'
import { StatsChart } from './chart.tsx'
import type { History, Range } from './sample-history.ts'
import type { Sample } from './sample-store.ts'
import { decimalTop, memoryTop } from './plot.ts'

/** Where the charts of a range stand on a page. */
export const chartsId = (range: Range) => `usage-charts-${range}`

/** What a container used over a range of time, drawn. */
export const StatsCharts = ({
  history,
  memoryLimit,
}: {
  history: History
  /** Null where it is not known. */
  memoryLimit: number | null
}) => {
  const { samples } = history
  if (samples.length === 0) return <p class="stats-note">{nothing[history.range]}</p>
  const least = { cpu: 1, rate: 1000 }
  const peak = (valueOf: (sample: Sample) => number) => Math.max(...samples.map(valueOf))
  const network = Math.max(peak(received), peak(sent))
  const disk = Math.max(peak(read), peak(written))
  return (
    <>
      <StatsChart
        name="CPU"
        history={history}
        top={decimalTop(peak(cpu), least.cpu)}
        text={percent}
        lines={[{ valueOf: cpu }]}
      />
      <StatsChart
        name="Memory"
        history={history}
        top={memoryTop(peak(memory), memoryLimit)}
        text={bytes}
        lines={[{ valueOf: memory }]}
      />
      <StatsChart
        name="Network"
        history={history}
        top={decimalTop(network, least.rate)}
        text={rate}
        lines={[
          { name: 'in', valueOf: received },
          { name: 'out', valueOf: sent },
        ]}
      />
      <StatsChart
        name="Disk"
        history={history}
        top={decimalTop(disk, least.rate)}
        text={rate}
        lines={[
          { name: 'read', valueOf: read },
          { name: 'write', valueOf: written },
        ]}
      />
    </>
  )
}

const nothing: Record<Range, string> = {
  hour: 'Nothing was measured in the last hour. While it runs, that is done every ten seconds.',
  day: 'Nothing was measured in the last day. Its first minute is drawn when that has passed.',
  week: 'Nothing was measured in the last week. Its first ten minutes are drawn when they have passed.',
}

const cpu = (sample: Sample) => sample.cpu
const memory = (sample: Sample) => sample.memory
const received = (sample: Sample) => sample.received
const sent = (sample: Sample) => sample.sent
const read = (sample: Sample) => sample.read
const written = (sample: Sample) => sample.written

import type { ContainerUsage } from '../../docker/index.ts'
import { Figure } from '../../web/chart.tsx'
import { bytes, percent, rate } from '../../web/units.ts'
import type { ShownUsage } from './shown.ts'

export const figuresId = 'stats-figures'

export const StatsFigures = ({ shown }: { shown: ShownUsage | null }) => {
  if (!shown) return <p class="stats-note">Measuring…</p>
  if (shown.state !== 'running') return <p class="stats-note">{notes[shown.state]}</p>
  return <Figures usage={shown.usage} />
}

const notes = {
  stopped: 'Stopped. It uses nothing until it starts again.',
  restarting: 'Restarting. Docker waits a moment before it starts it again.',
  removed: 'This container was removed.',
  unknown: 'Docker doesn’t respond. The figures continue when it does.',
}

const Figures = ({ usage }: { usage: ContainerUsage }) => {
  const { cpu, memory, memoryLimit, received, sent, read, written, rates, pids } = usage
  return (
    <dl class="stats-figures">
      <Figure name="CPU" value={percent(cpu)} note="of one processor" />
      <Figure
        name="Memory"
        value={bytes(memory)}
        note={memoryLimit > 0 && `of ${bytes(memoryLimit)}`}
      >
        {memoryLimit > 0 && (
          <meter min="0" max={memoryLimit} high={memoryLimit * 0.9} value={memory}>
            {percent((memory / memoryLimit) * 100)}
          </meter>
        )}
      </Figure>
      <Figure name="Network in" value={rate(rates.received)} note={`${bytes(received)} in total`} />
      <Figure name="Network out" value={rate(rates.sent)} note={`${bytes(sent)} in total`} />
      <Figure name="Disk read" value={rate(rates.read)} note={`${bytes(read)} in total`} />
      <Figure name="Disk write" value={rate(rates.written)} note={`${bytes(written)} in total`} />
      <Figure name="Processes" value={String(pids)} />
    </dl>
  )
}

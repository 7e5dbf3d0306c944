import type { Container } from '../docker/index.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import { Ago } from '../web/times.tsx'
import { bytes, percent } from '../web/units.ts'
import { ContainerActions } from './actions.tsx'
import { Badge } from '../web/status-badge.tsx'
import { isUp } from '../runtime/workload.ts'
import { isKept, lookOfRow, processText, stopReasonOf } from './row.ts'
import { containerPath } from './place.ts'
import type { Row } from './row.ts'

const whyStopped = { crash_loop: 'crash loop', disk_filled: 'it filled the disk' }

export const ContainerRow = ({ row }: { row: Row }) => {
  const { container, place, condition } = row
  const stopped = stopReasonOf(row)
  return (
    <li class="row container-row" id={rowId(container)}>
      <Badge {...lookOfRow(row)} />
      <div class="row-main">
        <a class="row-link" href={containerPath(container)}>
          <bdi>{container.name}</bdi>
        </a>
        <p class="row-facts">
          {place.kind === 'own' && (place.project ?? place.service) && (
            <bdi class="said-above">{(place.project ?? place.service)!.name}</bdi>
          )}
          {place.kind === 'own' && place.environment && <bdi>{place.environment.name}</bdi>}
          {place.kind === 'own' && place.process && <bdi>{processText(place.process)}</bdi>}
          <span>
            <code class="image" title={shownImage(container.image)}>
              {shownImage(container.image)}
            </code>
          </span>
          {condition !== null && condition.restartCount > 0 && (
            <span class="telling">{restarts(condition.restartCount)}</span>
          )}
          {condition?.oomKilled && isUp(container) && (
            <span class="telling">ran out of memory</span>
          )}
          {isKept(place) && (
            <span>
              previous version, {isUp(container) ? 'beside the new one' : 'kept for a rollback'}
            </span>
          )}
          {stopped && <span class="telling">stopped by Davit: {whyStopped[stopped.code]}</span>}
          {row.usage && (
            <span>
              CPU {percent(row.usage.usage.cpu)}, {bytes(row.usage.usage.memory)}
            </span>
          )}
          {row.server && (
            <span>
              on <bdi>{row.server}</bdi>
            </span>
          )}
          <Ports ports={container.ports} />
          <Since row={row} />
        </p>
      </div>
      <div class="row-actions">
        <ContainerActions container={container} place={place} target={`#${rowId(container)}`} />
      </div>
    </li>
  )
}

/** Shows the engine's own phrase until the container was inspected. */
const Since = ({ row: { container, condition } }: { row: Row }) => {
  if (!condition) return <span>{container.status}</span>
  const up = isUp(container)
  const at = up ? condition.startedAt : condition.finishedAt
  return (
    at && (
      <span>
        {up ? 'started' : 'ended'} <Ago at={at} />
      </span>
    )
  )
}

/** Starts with a letter, as CSS selectors require. */
export const rowId = ({ id }: { id: string }) => `c${id.slice(0, 12)}`

export const restarts = (count: number) => (count === 1 ? 'restarted once' : `${count} restarts`)

/** Formatted as `127.0.0.1:20001 → 8080`. */
export const Ports = ({ ports }: { ports: Container['ports'] }) =>
  ports.length > 0 && (
    <span>
      {ports.map((port, index) => (
        <>
          {index > 0 && ', '}
          <code>{portText(port)}</code>
        </>
      ))}
    </span>
  )

function portText({ address, host, container, protocol }: Container['ports'][number]) {
  const where = address.includes(':') ? `[${address}]` : address
  return `${where}:${host} → ${container}${protocol === 'tcp' ? '' : `/${protocol}`}`
}

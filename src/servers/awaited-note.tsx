import { Ago } from '../web/times.tsx'
import type { Awaited } from './store.ts'

/** Says which servers an app or a service waits for, whose containers there are unknown. */
export const AwaitedNote = ({ awaited, why }: { awaited: Awaited[]; why: string }) => (
  <>
    {awaited.map(({ name, lastSeenAt }) => (
      <p class="note pending" role="status">
        The server <bdi>{name}</bdi>, which runs some of it, is away; it was seen{' '}
        <Ago at={lastSeenAt!} />. {why}
      </p>
    ))}
  </>
)

export const waitsForVolumes = 'Its volumes are there, so it waits for it.'

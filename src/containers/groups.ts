import type { User } from '../web/factory.ts'
import type { OwnPlace } from './find.ts'
import { web } from '../environments/processes.ts'
import { shownImage } from '../runtime/images/private-names.ts'
import { byName } from '../web/listing.tsx'
import { toneRanks } from '../web/status-badge.tsx'
import { lookOfRow, processText } from './row.ts'
import type { Row } from './row.ts'

export type Group = {
  key: string
  title: string
  note: string | null
  href: string | null
  rows: Row[]
}

type Heading = Omit<Group, 'rows'> & { rank: number }

export type Viewer = Pick<User, 'id'>

export const sorts = {
  place: 'Project or service',
  state: 'State',
  name: 'Name',
} as const

export type Sort = keyof typeof sorts

export function sorted(rows: Row[], sort: Sort, user: Viewer): Row[] {
  if (sort === 'name') return rows.toSorted(byOwnName)
  if (sort === 'state') return rows.toSorted((a, b) => rankOf(a) - rankOf(b) || byOwnName(a, b))
  return rows
    .map((row) => ({ row, heading: headingOf(row, user) }))
    .toSorted((a, b) => byHeading(a.heading, b.heading) || byEnvironment(a.row, b.row))
    .map(({ row }) => row)
}

export function textOf({ container, place }: Row) {
  const facts = [container.name, shownImage(container.image)]
  if (place.kind === 'own')
    facts.push(...namesOf(place), place.process ? processText(place.process) : '')
  return facts.join(' ')
}

/** Expects sorted rows. Projects come first, then services, Davit's own containers, and others. */
export function groupRows(rows: Row[], user: Viewer): Group[] {
  const groups = new Map<string, Group>()
  for (const row of rows) {
    const { rank: _, ...heading } = headingOf(row, user)
    const group = groups.get(heading.key)
    if (group) group.rows.push(row)
    else groups.set(heading.key, { ...heading, rows: [row] })
  }
  return [...groups.values()]
}

/** Empty for containers that Davit runs for itself, such as Caddy. */
export const namesOf = ({ project, environment, service }: OwnPlace) =>
  [project, environment, service].flatMap((named) => named?.name ?? [])

function headingOf({ place }: Row, user: Viewer): Heading {
  if (place.kind === 'other') return others
  const { project, service } = place
  const note = ownerNote(place, user)
  if (project)
    return {
      key: `project-${project.id}`,
      title: project.name,
      note,
      href: note ? null : `/projects/${project.id}`,
      rank: note ? 2 : 0,
    }
  if (!service) return davits
  return {
    key: `service-${service.id}`,
    title: service.name,
    note: note ? `service ${note}` : 'service',
    href: note ? null : `/services/${service.id}`,
    rank: note ? 3 : 1,
  }
}

const ownerNote = ({ owner }: OwnPlace, user: Viewer) =>
  owner && owner.id !== user.id ? `of ${owner.email}` : null

const davits = { key: 'davit', title: 'Davit itself', note: null, href: null, rank: 4 }

const others = {
  key: 'other',
  title: 'Other containers on this server',
  note: 'not managed by Davit',
  href: null,
  rank: 5,
}

const byHeading = (a: Heading, b: Heading) =>
  a.rank - b.rank || byName(a.title, b.title) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)

const byEnvironment = (a: Row, b: Row) =>
  byName(environmentOf(a), environmentOf(b)) ||
  byName(processOf(a), processOf(b)) ||
  byOwnName(a, b)

const environmentOf = ({ place }: Row) =>
  place.kind === 'own' ? (place.environment?.name ?? '') : ''

/** `web` sorts first. */
function processOf({ place }: Row) {
  const process = place.kind === 'own' ? place.process : null
  return !process || process.name === web ? '' : processText(process)
}

const byOwnName = (a: Row, b: Row) => byName(a.container.name, b.container.name)

const rankOf = (row: Row) => toneRanks[lookOfRow(row).tone]

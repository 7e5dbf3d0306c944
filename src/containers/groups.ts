import type { User } from '../web/factory.ts'
import type { OwnPlace } from './find.ts'
import { web } from '../environments/processes.ts'
import { processText } from './row.ts'
import type { Row } from './row.ts'

/** Containers that belong together, and where they do. */
export type Group = {
  key: string
  title: string
  /** What to say of them. */
  note: string | null
  href: string | null
  rows: Row[]
}

type Heading = Omit<Group, 'rows'> & { rank: number }

/** By project, then by service, then what serves Davit, then what is not Davit's; empty ones are left out. */
export function groupRows(rows: Row[], user: Pick<User, 'id'>): Group[] {
  const groups = new Map<string, Heading & { rows: Row[] }>()
  for (const row of rows) {
    const heading = headingOf(row, user)
    const group = groups.get(heading.key)
    if (group) group.rows.push(row)
    else groups.set(heading.key, { ...heading, rows: [row] })
  }
  return [...groups.values()]
    .toSorted((a, b) => a.rank - b.rank || byText(a.title, b.title))
    .map(({ rank: _, ...group }) => ({ ...group, rows: group.rows.toSorted(byEnvironment) }))
}

function headingOf({ place }: Row, user: Pick<User, 'id'>): Heading {
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

const ownerNote = ({ owner }: OwnPlace, user: Pick<User, 'id'>) =>
  owner && owner.id !== user.id ? `of ${owner.email}` : null

const davits = { key: 'davit', title: 'Davit itself', note: null, href: null, rank: 4 }

const others = {
  key: 'other',
  title: 'Other containers on this engine',
  note: 'not Davit’s: it leaves them alone',
  href: null,
  rank: 5,
}

const byEnvironment = (a: Row, b: Row) =>
  byText(environmentOf(a), environmentOf(b)) || byText(processOf(a), processOf(b))

const environmentOf = ({ place }: Row) =>
  place.kind === 'own' ? (place.environment?.name ?? '') : ''

/** `web` first. */
function processOf({ place }: Row) {
  const process = place.kind === 'own' ? place.process : null
  return !process || process.name === web ? '' : processText(process)
}

const collator = new Intl.Collator('en', { numeric: true })

const byText = (a: string, b: string) => collator.compare(a, b)

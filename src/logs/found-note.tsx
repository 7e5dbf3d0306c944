import { counted } from '../web/units.ts'
import { filterOf, queryOf, withQuery } from './filter-choice.tsx'
import type { Chosen } from './filter-choice.tsx'
import type { Line } from './log-line.tsx'

/** For readers without scripts: what was found, and where to search on. */
export const FoundNote = ({
  page,
  chosen,
  lines,
  previous,
}: {
  page: string
  chosen: Chosen
  lines: Line[]
  previous: number | null
}) => {
  const { search, before } = chosen
  const all = search ? withQuery(page, filterOf(chosen)) : page
  return (
    <p class="log-note">
      {countOf(lines, before)} {search ? <q>{search}</q> : 'what you selected'}
      {lines.length === 0 && previous !== null && ' in the part that was searched'}.{' '}
      {previous !== null && (
        <>
          <a href={withQuery(page, `before=${previous}`, queryOf(chosen))}>Search before it</a>{' '}
        </>
      )}
      <a href={all}>Show all lines</a>
    </p>
  )
}

function countOf({ length }: Line[], before: number | undefined) {
  const kind = before === undefined ? 'line' : 'earlier line'
  if (length === 0) return `No ${kind} with`
  return `${before === undefined ? 'The last ' : ''}${counted(length, kind)} with`
}

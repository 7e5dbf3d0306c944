import type { watchedFiles } from '../git/watched-path.ts'
import type { WatchedFiles } from '../git/watched-path.ts'
import { parse } from '../platform/parse.ts'
import { counted } from '../web/units.ts'
import { openKeys } from './keys.ts'
import type { RemovalDeps } from './remove.ts'
import { lastCommit } from './store.ts'
import type { Project } from './store.ts'

/** `commit` is null when none is in a mirror. `items` are the files that each pattern matches in it. */
export type Watched = { commit: string | null; items: WatchedFiles[] }

/** Reads the mirror of the last deployment; uses no network. */
export async function findWatched(
  deps: Pick<RemovalDeps, 'db' | 'secrets' | 'git'>,
  { project, patterns, signal }: { project: Project; patterns: string[]; signal: AbortSignal },
): Promise<Watched> {
  if (patterns.length === 0) return { commit: null, items: [] }
  const commit = lastCommit(deps.db, project)
  const where = { ...openKeys(deps, project), url: project.repositoryUrl, signal }
  const paths = commit === null ? null : await deps.git.pathsOf({ ...where, commit })
  const unknown = patterns.map((pattern) => ({ pattern, refusal: null, count: null, files: [] }))
  const tooLong = new Error('the paths of a repository took too long to compare')
  const options = { tooLong: () => tooLong, owner: project.ownerId, signal }
  const items = await parse<typeof watchedFiles>('watchedFiles', [patterns, paths], options).catch(
    (error) => {
      if (error === tooLong) return unknown
      throw error
    },
  )
  return { commit: paths === null ? null : commit, items }
}

/** Below the field for patterns; reloads whenever they change. */
export const WatchedFilesLook = ({ project }: { project: Project }) => (
  <div
    class="repository-look waits"
    hx-get={`/projects/${project.id}/watched-files`}
    hx-include="#field-watch_paths"
    hx-trigger={`${project.watchPaths.length > 0 ? 'load, ' : ''}input changed delay:500ms from:#field-watch_paths`}
    hx-sync="this:replace"
    aria-live="polite"
  />
)

export const WatchedFilesList = ({ commit, items }: Watched) =>
  items.length === 0 ? (
    <></>
  ) : (
    <>
      <p>
        {commit === null ? (
          'The files that they match are shown here after the first deployment.'
        ) : (
          <>
            In the last commit, <code>{commit.slice(0, 12)}</code>:
          </>
        )}
      </p>
      <ul>
        {items.map(({ pattern, refusal, count, files }) => (
          <li>
            <code>{pattern}</code>{' '}
            {refusal ?? (count === null ? null : <Matched count={count} files={files} />)}
          </li>
        ))}
      </ul>
    </>
  )

const Matched = ({ count, files }: { count: number; files: string[] }) =>
  count === 0 ? (
    <strong>matches no file</strong>
  ) : (
    <>
      matches {counted(count, 'file')}: <bdi>{files.join(', ')}</bdi>
      {count > files.length && ', …'}
    </>
  )

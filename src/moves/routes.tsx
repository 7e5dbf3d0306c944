import type { Context } from 'hono'
import { auditor } from '../audit/record.ts'
import type { RouteDeps } from '../backups/deps.ts'
import { ofEnvironment, ofService } from '../backups/subject.ts'
import { liveEnvironment } from '../environments/own-environment.ts'
import { environmentPath } from '../environments/paths.ts'
import { getJob } from '../jobs/store.ts'
import { AppError } from '../platform/errors.ts'
import { getMove } from '../runtime/move-store.ts'
import { liveService, servicePath, servicePattern } from '../services/own-service.ts'
import { clientOf } from '../web/client.ts'
import { emptyDraft } from '../web/draft.ts'
import type { Draft } from '../web/draft.ts'
import { factory } from '../web/factory.ts'
import { input } from '../web/input.ts'
import { shown } from '../web/operation.ts'
import { awaitOrAccept, moveOn, show } from '../web/respond.tsx'
import { ownFirst, userOf } from '../web/user-of.ts'
import { beginMove, moveForm, removeLeft } from './begin.ts'
import { MoveDialog } from './dialog.tsx'
import { moveJson, movePreview } from './json.ts'
import { previewMove } from './preview.ts'
import type { Movable, PreviewDeps } from './preview.ts'

/** Moves of services and environments to other servers. */
export const moveRoutes = (deps: RouteDeps & PreviewDeps) => {
  const { db, jobs, config } = deps
  const audit = auditor(db)
  const app = factory.createApp()
  for (const [path, find] of [
    [`${servicePattern}/move`, (c: Context): Movable => ofService(liveService(deps, c))],
    ['/envs/:envId/move', (c: Context): Movable => ofEnvironment(liveEnvironment(deps, c))],
  ] as const) {
    app
      .get(path, async (c) => show(c, await view(find(c), emptyDraft)))
      .post(
        path,
        ownFirst(find),
        input(moveForm, (c, draft) => view(find(c), draft)),
        async (c) => {
          const subject = find(c)
          const job = await beginMove(deps, subject, {
            ...{ input: c.var.input, by: userOf(c).email },
            also: () => audit(c, `${subject.kind}.moved`, { object: objectOf(subject) }),
          })
          const to = pathOf(subject)
          if (clientOf(c) === 'program')
            await awaitOrAccept(c, jobs.ended(job), { acceptTimeout: config.acceptTimeout, at: to })
          const json = () => moveJson(getMove(db, subject.id)!)
          return moveOn(c, { to, said: `Move of ${subject.name} queued.`, json })
        },
      )
      .delete(path, async (c) => {
        const subject = find(c)
        const move = getMove(db, subject.id)
        if (!move?.leftOn || getJob(db, move.id))
          throw new AppError('conflict', `Nothing is left of a move of ${subject.name}.`)
        await removeLeft(deps, subject, () =>
          audit(c, `${subject.kind}.left_deleted`, { object: objectOf(subject) }),
        )
        const json = () => moveJson(getMove(db, subject.id)!)
        const said = getMove(db, subject.id)?.leftOn
          ? 'It will be deleted once that server responds and no backup runs.'
          : 'Deleted what the move left.'
        return moveOn(c, { to: pathOf(subject), said, json })
      })
  }
  return app

  async function view(subject: Movable, draft: Draft) {
    const preview = await previewMove(deps, subject)
    const servers = deps.serverList.list()
    return {
      title: `Move ${subject.name}`,
      page: () => <MoveDialog {...{ subject, preview, servers, draft }} path={pathOf(subject)} />,
      json: () => shown(movePreview, preview),
    }
  }
}

const objectOf = ({ kind, id, name }: Movable) => ({ kind, id, name })

const pathOf = (subject: Movable) =>
  subject.kind === 'service' ? servicePath(subject.service) : environmentPath(subject.environment)

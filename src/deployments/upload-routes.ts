import type { Context } from 'hono'
import { z } from 'zod'
import { auditor } from '../audit/record.ts'
import type { Config } from '../config.ts'
import type { Docker } from '../docker/index.ts'
import type { Edge } from '../edge/edge.ts'
import { tooLarge } from '../git/upload.ts'
import { AppError, invalidField } from '../platform/errors.ts'
import type { Secrets } from '../platform/secrets.ts'
import { deploymentPath } from '../projects/deployment-list.tsx'
import { branchName } from '../projects/forms.ts'
import { ownKey, ownProject } from '../projects/own-project.ts'
import { findProject } from '../projects/store.ts'
import { csrfCheck } from '../web/csrf.ts'
import { factory } from '../web/factory.ts'
import type { Env } from '../web/factory.ts'
import { flag, line } from '../web/fields.ts'
import { query } from '../web/query.ts'
import { moveOn } from '../web/respond.tsx'
import type { Streams } from '../web/streams.ts'
import { userOf } from '../web/user-of.ts'
import { checkFreeze, passedIn } from './freeze-dialog.tsx'
import { deploymentJson } from './json.ts'
import { refuseShare } from './share.ts'
import { shareFields, shareOf, shareProblems } from './share-fields.ts'
import { refuseWithoutRoom, triggerDeployment } from './trigger.ts'
import { commitHash, note } from './trigger-forms.ts'
import type { TriggerDeps } from './trigger.ts'
import type { Uploads } from './uploads.ts'

/** What a working copy says of itself. */
const uploadQuery = z.object({
  environmentId: line('the id of an environment', { max: 100 }).nullish(),
  branch: branchName.nullish(),
  commit: commitHash.nullish(),
  /** The first line of that commit's message. */
  message: line('the first line of a message', { max: 300 }).nullish(),
  /** Its files differ from that commit. */
  dirty: flag().default(false),
  noCache: flag().nullish(),
  note: note(),
  ...shareFields,
})

/** Seconds without a byte of an upload after which it ends. */
const silence = 120

type UploadDeps = TriggerDeps & {
  secrets: Secrets
  edge: Pick<Edge, 'isOn' | 'mode'>
  config: Config
  docker: Docker
  streams: Streams
  uploads: Uploads
}

/**
 * Deploys files that no repository has: a tar archive is the body. It is read by nothing before, which has a limit
 * for bodies and looks for a form, so a session sends its CSRF token in the header.
 */
export const uploadRoutes = (deps: UploadDeps) => {
  const { db, config, streams, uploads } = deps
  const audit = auditor(db)

  return factory.createApp().post(
    '/projects/:id/uploads',
    ownProject(deps), // before anything else is said of it
    csrfCheck(deps, { mayBeForm: false }),
    query(uploadQuery),
    async function upload(c) {
      const { environmentId, branch, noCache, note, strategy, percent, sticky, ...about } =
        c.req.valid('query')
      const asked = { strategy, percent, sticky }
      for (const { field, problem } of shareProblems(asked)) throw invalidField(field, problem)
      const project = findProject(db, ownKey(c))
      const { id: ownerId, email: triggeredBy } = userOf(c)
      if (project.image !== null)
        throw new AppError('conflict', 'This project deploys an image, so files can’t be deployed.')
      if (Number(c.req.header('Content-Length') ?? 0) > config.repositorySize)
        throw tooLarge(config.repositorySize)
      checkFreeze(c, db, { project, environmentId, note })
      refuseShare(deps, { project, environmentId, ...asked })
      await refuseWithoutRoom(deps, { project, environmentId })
      const body = c.req.raw.body ?? new Blob([]).stream()
      const said = { commit: about.commit ?? null, message: about.message ?? null }
      const deployment = await whileAllowed(c, (signal) =>
        uploads.receive(
          { ownerId, body, about: { ...said, dirty: about.dirty }, signal },
          (upload) =>
            triggerDeployment(deps, {
              // it may have been deleted while the files arrived
              project: findProject(db, ownKey(c)),
              ...{ upload, environmentId, branch, noCache, triggeredBy, note },
              share: shareOf(asked),
              trigger: c.var.token ? 'api' : 'manual',
            }),
        ),
      )
      audit(c, 'deployment.triggered', {
        object: { kind: 'deployment', id: deployment.id, name: project.name },
        details: {
          ...(c.var.token && { token: c.var.token.name }),
          files: 'uploaded',
          ...passedIn(deployment),
        },
      })
      const json = () => deploymentJson(deployment)
      return moveOn(c, { to: deploymentPath(deployment), created: true, json })
    },
  )

  /** It counts as a stream: it ends with the connection, with the login, and when Davit stops. */
  async function whileAllowed<T>(c: Context<Env>, work: (signal: AbortSignal) => Promise<T>) {
    const ended = new AbortController()
    const end = () =>
      ended.abort(
        new AppError('unauthorized', 'The login isn’t valid any more. Nothing was deployed.'),
      )
    const stop = () =>
      ended.abort(new AppError('unavailable', 'Davit is stopping. Upload again in a moment.'))
    const isAllowed = () => c.var.isLoginAlive()
    const leave = streams.enter(userOf(c).id, { isAllowed, end })
    streams.shutdown.addEventListener('abort', stop)
    c.env?.server?.timeout(c.req.raw, silence)
    const gone = c.req.raw.signal
    try {
      return await work(AbortSignal.any([gone, ended.signal]))
    } catch (error) {
      throw gone.aborted ? new AppError('bad_request', 'The upload was cut short.') : error
    } finally {
      streams.shutdown.removeEventListener('abort', stop)
      leave()
    }
  }
}

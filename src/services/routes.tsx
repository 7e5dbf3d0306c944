import type { Serving } from '../addresses/urls.ts'
import { auditor } from '../audit/record.ts'
import type { Db, LogDb } from '../db/index.ts'
import { getJob, getJobOf, hasJob, listJobsOf } from '../jobs/store.ts'
import { answerJobLog, answerOutput, outputOf, streamLog } from '../logs/answer-log.tsx'
import type { StreamDeps } from '../logs/answer-log.tsx'
import { changeLogQuery, outputQuery, outputStreamQuery, shownQuery } from '../logs/forms.ts'
import type { ShownQuery } from '../logs/forms.ts'
import { lastLinesOf } from '../logs/read-log.ts'
import { listJobLogs } from '../logs/store.ts'
import type { LogKey } from '../logs/store.ts'
import { Failure } from '../platform/errors.ts'
import { answerRemoval, RemovalModal } from '../projects/removal.tsx'
import { refuseWithoutEngine, volumesOf } from '../runtime/remove.ts'
import { listAwaited } from '../servers/awaited-store.ts'
import { clientOf } from '../web/client.ts'
import { showsSecret } from '../web/compress.ts'
import { PageHead } from '../web/components.tsx'
import { factory } from '../web/factory.ts'
import { pageOf } from '../web/paging.ts'
import { bodyOrQuery, query } from '../web/query.ts'
import { show } from '../web/respond.tsx'
import { lookOfStatus } from '../web/status-badge.tsx'
import { userOf } from '../web/user-of.ts'
import { Catalogue, matching } from './catalogue.ts'
import { changeRoutes } from './change-routes.tsx'
import type { BackupFirst } from './change-routes.tsx'
import { ConnectionDetails, detailsOf } from './connection.tsx'
import { grantsOf } from './definition.ts'
import { catalogueQuery, serviceRemovalForm } from './forms.ts'
import { entryJson, serviceJson } from './json.ts'
import { makeRoutes } from './make-routes.tsx'
import { checkOwner, ownService, serviceCrumbs, servicePattern } from './own-service.ts'
import type { PullProgress } from './progress.ts'
import { removeService } from './remove.ts'
import type { RemovalDeps } from './remove.ts'
import { ServicePage } from './service-page.tsx'
import { ServiceStatus } from './service-status.tsx'
import { CatalogueList, ServicesPage } from './services-page.tsx'
import { shownService, shownServices } from './shown.ts'
import type { ServiceDeps } from './state.ts'
import { listServices, listLinkedEnvironments, updateService } from './store.ts'
import type { Service } from './store.ts'
import { definitionOf } from './stored-definition.ts'
import { refuseUsed, UsedByWarning } from './used-by.tsx'

export const serviceRoutes = (
  deps: RemovalDeps & ServiceDeps & StreamDeps & Serving & { pulls: Map<string, PullProgress> },
  backupFirst: BackupFirst,
) => {
  const { db, config } = deps
  const audit = auditor(db)
  const catalogue = new Catalogue(config)

  return factory
    .createApp()
    .get('/services', query(catalogueQuery), async (c) => {
      const user = userOf(c)
      const { q = '', category = '', ...page } = c.req.valid('query')
      const { entries, refused } = await catalogue.list()
      const list = pageOf(listServices(db, { ownerId: user.id, ...page }), page)
      const items = await shownServices(deps, { services: list.items, signal: c.req.raw.signal })
      const found = matching(entries, { q, category })
      const search = { entries: found, all: entries, q, category }
      return show(c, {
        title: 'Services',
        page: () => (
          <ServicesPage
            instances={{ items, nextCursor: list.nextCursor }}
            search={search}
            refused={user.role === 'admin' ? refused : []}
          />
        ),
        partial: () => <CatalogueList {...search} />,
        live: {},
        json: () => ({
          templates: found.map(entryJson),
          instances: items.map(serviceJson),
          nextCursor: list.nextCursor,
        }),
      })
    })
    .route('/', makeRoutes(deps, catalogue))
    .get(`${servicePattern}/output`, checkOwner(deps), query(outputQuery), (c) => {
      const source = ownService(deps, c)
      return answerOutput(c, deps, {
        source,
        asked: c.req.valid('query'),
        title: `Logs of ${source.name}`,
        frame: (view) => (
          <>
            <PageHead
              title="Logs"
              crumbs={serviceCrumbs(source)}
              doc="logs#logs-of-apps-and-services"
            />
            {view}
          </>
        ),
      })
    })
    .get(`${servicePattern}/output/stream`, checkOwner(deps), query(outputStreamQuery), (c) =>
      streamLog(c, deps, { log: outputOf(ownService(deps, c)), asked: c.req.valid('query') }),
    )
    .get(`${servicePattern}/logs`, checkOwner(deps), query(changeLogQuery), (c) => {
      const service = ownService(deps, c)
      const log = lastLogOf(deps, service)
      const { log: known = log.logId, after, cursor = after, ...asked } = c.req.valid('query')
      return answerJobLog(c, deps, {
        log,
        name: `${service.name}-last-change.log`,
        asked: { ...asked, after: known === log.logId ? cursor : 0 },
        statuses: statusesOf(deps, log),
        isNamed: true,
      })
    })
    .get(servicePattern, query(shownQuery), async (c) => {
      const service = ownService(deps, c)
      const shown = await shownService(deps, service)
      const status = {
        ...shown,
        isBusy: hasJob(db, service.id),
        isRestoring: listJobsOf(db, service.id).some(({ kind }) => kind === 'restore'),
        awaited: listAwaited(db, service.id),
        canMove: deps.serverList.list().length > 1,
        images: deps.pulls.get(service.id)?.images ?? [],
      }
      const said = clientOf(c) === 'program' ? null : await told(service)
      const log = said && (await logShown(service, c.req.valid('query')))
      return show(c, {
        title: service.name,
        state: lookOfStatus(shown.status),
        page: () => (
          <ServicePage
            {...status}
            {...said!}
            log={log!}
            linked={listLinkedEnvironments(db, service.id)}
          />
        ),
        partial: () => <ServiceStatus {...status} />,
        json: () => serviceJson(shown),
        live: { about: service.id, isCarried: log ? !log.isOver : false },
      })
    })
    .get(`${servicePattern}/secrets`, async (c) => {
      const service = ownService(deps, c)
      const details = detailsOf(deps, await definitionOf(deps, service), { withSecrets: true })
      audit(c, 'service.secrets_shown', {
        object: { kind: 'service', id: service.id, name: service.name },
      })
      showsSecret(c)
      return show(c, {
        title: `${service.name}: secrets`,
        page: () => (
          <>
            <PageHead title="Secrets" crumbs={serviceCrumbs(service)} />
            <ConnectionDetails service={service} details={details} />
          </>
        ),
        partial: () => <ConnectionDetails service={service} details={details} />,
        json: () => ({ connection: details }),
      })
    })
    .route('/', changeRoutes(deps, backupFirst))
    .get(`${servicePattern}/delete`, async (c) => {
      const { id, name } = ownService(deps, c)
      const volumes = await volumesOf(deps, { serviceId: id })
      return show(c, {
        title: `Delete ${name}`,
        page: () => (
          <RemovalModal
            of="service"
            id={id}
            name={name}
            volumes={volumes}
            volumesHint={volumesHint}
          >
            <p>
              Its containers, its network, its settings and its generated passwords are deleted.
              This can’t be undone. Its backups stay, under <a href="/backups">All backups</a>; its
              backup plan is deleted.
            </p>
            <UsedByWarning linked={listLinkedEnvironments(db, id)} />
          </RemovalModal>
        ),
        json: () => ({ volumes }),
      })
    })
    .delete(servicePattern, checkOwner(deps), bodyOrQuery(serviceRemovalForm), async (c) => {
      await refuseWithoutEngine(deps, { serviceId: ownService(deps, c).id })
      const service = ownService(deps, c) // it may be someone else's by now
      const { id, name } = service
      const volumes = c.var.input.volumes ?? service.deletingVolumes
      db.transaction(() => {
        if (!c.var.input.force && !service.deletingAt)
          refuseUsed(service, listLinkedEnvironments(db, id))
        const deletingAt = service.deletingAt ?? new Date()
        updateService(db, id, { deletingAt, deletingVolumes: volumes })
        audit(c, 'service.deleted', {
          object: { kind: 'service', id, name },
          details: { volumes: volumes ? 'deleted' : 'kept' },
        })
      })
      const work = removeService(deps, { service, volumes })
      return answerRemoval(c, work, {
        of: 'service',
        id,
        name,
        acceptTimeout: deps.config.acceptTimeout,
      })
    })

  async function logShown(service: Service, chosen: ShownQuery) {
    const log = lastLogOf(deps, service)
    const { now, isEnd } = statusesOf(deps, log)
    const last = await lastLinesOf(deps, log, chosen)
    return { ...last, job: log.logId, isOver: isEnd(now()) }
  }

  /** Reads its file for display. If it is invalid, the page can still be used to delete it. */
  async function told(service: Service) {
    const hasLapsed = service.allowed.length > 0 && grantsOf(deps, service).length === 0
    try {
      const definition = await definitionOf(deps, service)
      const { about, after } = definition.file
      const connection = detailsOf(deps, definition, { withSecrets: false })
      return { about, after, connection, hasLapsed }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return { about: null, after: `${error.message} ${error.hint}`, connection: [], hasLapsed }
    }
  }
}

const volumesHint =
  'Their data is lost. Otherwise the volumes stay where they are: write down the passwords they need first.'

const statusesOf = ({ db }: { db: Db }, { logId }: LogKey) => ({
  now: () => (getJob(db, logId) ? 'running' : 'ended'),
  isEnd: (status: string) => status === 'ended',
})

/** The log of the queued or running job, even before its first line, else of the last, if any. */
function lastLogOf({ db, logDb }: { db: Db; logDb: LogDb }, { id }: { id: string }): LogKey {
  const job = getJobOf(db, id)
  if (job) return { sourceId: id, logId: job.id }
  return listJobLogs(logDb, id)[0] ?? { sourceId: id, logId: 'none' }
}

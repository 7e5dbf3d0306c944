import { shownImage } from '../runtime/images/private-names.ts'
import { AppAddress, PageHead, Trouble } from '../web/components.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import { Ago } from '../web/times.tsx'
import { addressOf } from './address.ts'
import { partOf } from './json.ts'
import { servicePath } from './own-service.ts'
import type { ImagePull } from './progress.ts'
import { PullProgress } from './pull-progress.tsx'
import type { Shown } from './shown.ts'
import type { Service } from './store.ts'
import { ContainerBadge, StatusBadge } from '../web/status-badge.tsx'

export type StatusProps = Shown & {
  /** A start, stop, change or deletion is at work. */
  isBusy: boolean
  images: ImagePull[]
}

/** What an instance is doing and what can be done about it; the page's stream replaces it. */
export const ServiceStatus = (props: StatusProps) => {
  const { service, places, isBusy, images } = props
  return (
    <section
      id="service-status"
      class="service-status"
      aria-label="Status"
      data-announce={`The service is ${service.status}.`}
    >
      <PageHead title={service.name} crumbs={[{ href: '/services', name: 'Services' }]} />
      {service.errorCode && <ServiceError {...service} />}
      <div class="status-line">
        <StatusBadge status={service.status} />
        <Address {...props} />
        <Doing {...props} />
        <div class="actions">
          <Actions {...props} />
        </div>
      </div>
      {places.note && isUp(service.status) && <p class="note">{places.note}</p>}
      {isBusy && <PullProgress images={images} />}
      <Containers {...props} />
    </section>
  )
}

const ServiceError = ({ status, errorCode, errorMessage, errorHint }: Service) => (
  <Trouble
    title={status === 'failed' ? 'It did not start' : 'The last change did not succeed'}
    code={errorCode}
    hint={errorHint}
  >
    <p dir="auto">{errorMessage}</p>
  </Trouble>
)

const Address = ({ service, ports, places }: StatusProps) => {
  const url = addressOf(places, ports)
  if (!url || !isUp(service.status)) return null
  if (!url.startsWith('http')) return <code class="address">{url}</code>
  return <AppAddress url={url} />
}

const Doing = ({ service, isBusy }: StatusProps) => {
  if (service.deletingAt) return <span class="muted">being deleted</span>
  const isSettled = ['running', 'unhealthy', 'stopped'].includes(service.status)
  return isBusy && isSettled ? <span class="muted">at work</span> : null
}

const Actions = ({ service, isBusy }: StatusProps) => {
  const path = servicePath(service)
  const runs = isUp(service.status)
  if (service.deletingAt) return null
  return (
    <>
      {isBusy ? (
        <Action path={`${path}/cancel`} label="Cancel" variant="destructive" />
      ) : (
        <>
          <Action
            path={`${path}/restart`}
            label={runs ? 'Restart' : 'Start'}
            variant={runs ? 'outline' : undefined}
          />
          {runs && <Action path={`${path}/stop`} label="Stop" variant="outline" />}
          <ButtonLink variant="outline" href={`${path}/edit`}>
            Change
          </ButtonLink>
        </>
      )}
      <ButtonLink variant="outline" href={`${path}/output`}>
        Logs
      </ButtonLink>
      <ButtonLink quiet variant="ghost" opens={`${path}/delete`}>
        Delete…
      </ButtonLink>
    </>
  )
}

type ActionProps = { path: string; label: string; variant: 'outline' | 'destructive' | undefined }

const Action = ({ path, label, variant }: ActionProps) => (
  <PostForm action={path}>
    <Button variant={variant}>{label}</Button>
  </PostForm>
)

const isUp = (status: string) => status === 'running' || status === 'unhealthy'

const Containers = ({ service, containers }: Shown) => {
  if (containers === null)
    return <p class="muted">Docker doesn’t respond, so its containers aren’t known.</p>
  if (containers.length === 0) return null
  return (
    <ul class="rows service-parts" aria-label="Containers">
      {containers.map((container) => (
        <li class="row" id={`part-${container.id.slice(0, 12)}`}>
          {/* what was stopped on purpose did not fail */}
          <ContainerBadge
            {...container}
            exitCode={service.status === 'stopped' ? null : container.exitCode}
          />
          <div class="row-main">
            <a class="row-link" href={`/containers/${container.id}`}>
              <bdi>{partOf(container)}</bdi>
            </a>
            <p class="row-facts">
              <code>{shownImage(container.image)}</code>
              <span>
                created <Ago at={container.createdAt} />
              </span>
            </p>
          </div>
        </li>
      ))}
    </ul>
  )
}

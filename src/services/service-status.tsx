import { AwaitedNote } from '../environments/server-notes.tsx'
import { shownImage } from '../runtime/images/private-names.ts'
import type { Awaited } from '../servers/awaited-store.ts'
import { AppAddress, PageHead, Trouble } from '../web/components.tsx'
import { CopyButton } from '../web/copy.tsx'
import { Button, ButtonLink, PostForm } from '../web/form.tsx'
import type { Question } from '../web/form.tsx'
import type { IconName } from '../web/icons.tsx'
import { Live } from '../web/live.tsx'
import { Ago } from '../web/times.tsx'
import { partOf } from './json.ts'
import { servicePath } from './own-service.ts'
import { ServiceLogo } from './service-logo.tsx'
import type { ImagePull, Layer } from './progress.ts'
import { isUp } from './shown.ts'
import type { ShownService } from './shown.ts'
import type { Service } from './store.ts'
import { ContainerBadge, statusInWords, StatusBadge } from '../web/status-badge.tsx'
import { bytes, counted } from '../web/units.ts'

export type StatusProps = ShownService & {
  /** True while a start, stop, change or deletion is in progress. */
  isBusy: boolean
  /** True while a backup is, or is about to be, restored into it. */
  isRestoring: boolean
  /** True where there is another server. */
  canMove: boolean
  images: ImagePull[]
  awaited: Awaited[]
}

export const ServiceStatus = (props: StatusProps) => {
  const { service, status, places, isBusy, images, containers, awaited } = props
  return (
    <Live
      as="section"
      id="service-status"
      class="service-status"
      aria-label="Status"
      data-announce={`The service is ${statusInWords(status)}.`}
    >
      <PageHead
        title={service.name}
        mark={<ServiceLogo service={service} images={containers?.map(({ image }) => image)} />}
        crumbs={[{ href: '/services', name: 'Services' }]}
        doc="services"
      />
      {service.errorCode && <ServiceError {...service} />}
      <div class="status-line">
        <StatusBadge status={status} />
        <Address {...props} />
        <Doing {...props} />
        <div class="actions">
          <Actions {...props} />
        </div>
      </div>
      {places.note && isUp(service.status) && <p class="note">{places.note}</p>}
      <AwaitedNote awaited={awaited} why="It isn’t started elsewhere by itself." />
      {isBusy && <PullProgress images={images} />}
      <Containers {...props} />
    </Live>
  )
}

const ServiceError = ({ status, errorCode, errorMessage, errorHint }: Service) => (
  <Trouble
    title={status === 'failed' ? 'It failed to start' : 'The last change failed'}
    code={errorCode}
    hint={errorHint}
  >
    <p dir="auto">{errorMessage}</p>
  </Trouble>
)

const Address = ({ service, url }: StatusProps) => {
  if (!url || !isUp(service.status)) return null
  if (!url.startsWith('http'))
    return (
      <span class="app-address">
        <code class="address">{url}</code>
        <CopyButton text={url} what="the address" />
      </span>
    )
  return <AppAddress url={url} />
}

const Doing = ({ service, isBusy }: StatusProps) => {
  if (service.deletingAt) return <span class="muted">being deleted</span>
  const isSettled = ['running', 'unhealthy', 'stopped'].includes(service.status)
  return isBusy && isSettled ? <span class="muted">in progress</span> : null
}

const Actions = ({ service, domains, isBusy, isRestoring, canMove }: StatusProps) => {
  const path = servicePath(service)
  const runs = isUp(service.status)
  if (service.deletingAt) return null
  return (
    <>
      {isBusy ? (
        <Action
          path={`${path}/cancel`}
          label={isRestoring ? 'Cancel restore…' : 'Cancel'}
          icon="x"
          variant="destructive"
          question={isRestoring ? cancelRestore : undefined}
        />
      ) : (
        <>
          <Action
            path={`${path}/restart`}
            label={runs ? 'Restart' : 'Start'}
            icon={runs ? 'rotate-cw' : 'play'}
            variant={runs ? 'outline' : undefined}
          />
          {runs && <Action path={`${path}/stop`} label="Stop" icon="square" variant="outline" />}
          <ButtonLink icon="pencil" variant="outline" href={`${path}/edit`}>
            Change
          </ButtonLink>
        </>
      )}
      <ButtonLink icon="globe" variant="outline" href={`${path}/domains`}>
        Domains
      </ButtonLink>
      {domains.length > 0 && (
        <ButtonLink icon="activity" variant="outline" href={`${path}/traffic`}>
          Traffic
        </ButtonLink>
      )}
      <ButtonLink icon="database" variant="outline" href={`${path}/backups`}>
        Backups
      </ButtonLink>
      {canMove && runs && !isBusy && (
        <ButtonLink icon="server" variant="outline" opens={`${path}/move`}>
          Move…
        </ButtonLink>
      )}
      <ButtonLink icon="scroll-text" variant="outline" href={`${path}/output`}>
        Logs
      </ButtonLink>
      <ButtonLink icon="trash-2" quiet variant="ghost" opens={`${path}/delete`}>
        Delete…
      </ButtonLink>
    </>
  )
}

/** Asked before a restore is cancelled, on each page that can do it. */
export const cancelRestore: Question = {
  text: 'Cancel the restore? What it is replacing now may be left incomplete.',
  answer: 'Cancel restore',
}

type ActionProps = {
  path: string
  label: string
  icon: IconName
  variant: 'outline' | 'destructive' | undefined
  question?: Question | undefined
}

const Action = ({ path, label, icon, variant, question }: ActionProps) => (
  <PostForm action={path} question={question}>
    <Button icon={icon} variant={variant}>
      {label}
    </Button>
  </PostForm>
)

const Containers = ({ service, containers }: ShownService) => {
  if (containers === null)
    return <p class="muted">Docker doesn’t respond, so its containers are unknown.</p>
  if (containers.length === 0) return null
  return (
    <ul class="rows service-parts" aria-label="Containers">
      {containers.map((container) => (
        <li class="row" id={`part-${container.id.slice(0, 12)}`}>
          {/* a container that was stopped on purpose did not fail */}
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

const PullProgress = ({ images }: { images: ImagePull[] }) =>
  images.some(({ done }) => !done) && (
    <section class="pulls" aria-label="Pulling images">
      {images.map(({ image, layers, done }) => (
        <div class="pull">
          <h2>
            <code>{image}</code>
            <span class="muted">{done ? 'here' : summary(layers)}</span>
          </h2>
          {!done && (
            <ul>
              {layers.filter(isLayer).map((layer) => (
                <LayerBar layer={layer} />
              ))}
            </ul>
          )}
        </div>
      ))}
    </section>
  )

const LayerBar = ({ layer: { id, status, current, total } }: { layer: Layer }) => (
  <li>
    <code>{id.slice(0, 12)}</code>
    <progress
      aria-label={`Layer ${id}: ${status}`}
      max={total || 1}
      value={isHere({ status }) ? total || 1 : current}
    />
    <span class="muted">
      {status}
      {total > 0 && current < total && ` ${bytes(current)} of ${bytes(total)}`}
    </span>
  </li>
)

/** Layers are identified by hash; other lines of a pull are about the whole image. */
const isLayer = ({ id }: Layer) => /^[0-9a-f]{12}/.test(id)

const isHere = ({ status }: Pick<Layer, 'status'>) => /complete|exists/i.test(status)

function summary(all: Layer[]) {
  const layers = all.filter(isLayer)
  if (layers.length === 0) return 'contacting the registry'
  return `${layers.filter(isHere).length} of ${counted(layers.length, 'layer')}`
}

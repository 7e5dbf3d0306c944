import { PinFact } from '../environments/server-notes.tsx'
import { Fact } from '../web/components.tsx'
import { CopyButton } from '../web/copy.tsx'
import { ofImage } from './compose/template.ts'
import { Ago } from '../web/times.tsx'
import { JobLog } from '../logs/job-log.tsx'
import type { LastLines } from '../logs/read-log.ts'
import { addressOn } from './address.ts'
import { meaningOf } from './compose/dangers.ts'
import type { About } from './compose/template.ts'
import { ConnectionDetails } from './connection.tsx'
import type { Detail } from './connection.tsx'
import { ownFile } from './own-file.ts'
import { servicePath } from './own-service.ts'
import { ServiceStatus } from './service-status.tsx'
import type { StatusProps } from './service-status.tsx'
import { TemplateLinks } from './services-page.tsx'
import type { LinkedEnvironment } from './store.ts'
import { UsedBy } from './used-by.tsx'

type Props = StatusProps & {
  /** Null when its file or its values can't be read. */
  about: About | null
  after: string | null
  connection: Detail[]
  /** True when the person who allowed its access to the host is no longer an admin. */
  hasLapsed: boolean
  linked: LinkedEnvironment[]
  log: LastLines & { job: string; isOver: boolean }
}

export const ServicePage = ({
  about,
  after,
  connection,
  hasLapsed,
  linked,
  log,
  ...status
}: Props) => {
  const { service, ports, domains, places, pin } = status
  return (
    <>
      <ServiceStatus {...status} />
      {after && (
        <section class="note" aria-labelledby="after-heading">
          <h2 id="after-heading">Next steps</h2>
          <p dir="auto">{after}</p>
        </section>
      )}
      {connection.length > 0 && <ConnectionDetails service={service} details={connection} />}
      <UsedBy linked={linked} />
      <section aria-labelledby="facts-heading">
        <h2 id="facts-heading">About</h2>
        <dl class="facts">
          <Fact name="Created from">
            {service.template === ownFile ? 'your own file' : about?.name}
          </Fact>
          {service.version && (
            <Fact name="Version">
              <code>{service.version}</code>
            </Fact>
          )}
          <PinFact pin={pin} path={servicePath(service)} />
          {ports.map((port) => (
            <Fact
              name={`${port.containerPort === ofImage ? 'Port' : `Port ${port.containerPort}`} of ${port.target}`}
            >
              <code>{addressOn(places, port)}</code>
              <CopyButton text={addressOn(places, port)} what="the address" />
            </Fact>
          ))}
          {domains.length > 0 && (
            <Fact name="Domains">
              <a href={`${servicePath(service)}/domains`}>
                <bdi>{domains.join(', ')}</bdi>
              </a>
            </Fact>
          )}
          {service.allowed.length > 0 && (
            <Fact name="Host access">
              {service.allowed.map(meaningOf).join(' ')}
              {hasLapsed && ' Lapsed: an admin must allow it again before it can be started.'}
            </Fact>
          )}
          <Fact name="Created">
            <Ago at={service.createdAt} />
          </Fact>
        </dl>
        {about && <TemplateLinks about={about} />}
      </section>
      {(log.extent.last > 0 || !log.isOver) && (
        <JobLog
          {...{ log, job: log.job, isOver: log.isOver }}
          page={servicePath(service)}
          heading="Last start, change or stop"
        />
      )}
    </>
  )
}

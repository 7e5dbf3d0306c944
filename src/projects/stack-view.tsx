import type { z } from 'zod'
import type { Link, Plan } from '../detection/plan.ts'
import type { foundService } from './json.ts'

export type FoundService = z.output<ReturnType<typeof foundService>>

export const serviceNames: Record<Link['template'], string> = {
  postgresql: 'PostgreSQL',
  mysql: 'MySQL',
  mongodb: 'MongoDB',
  redis: 'Redis',
  rabbitmq: 'RabbitMQ',
}

export const OtherFiles = ({ paths: [first] }: { paths: string[] }) =>
  first === undefined ? null : (
    <p>
      The repository also has <code>{first}</code>. To run its services together, enter it as the
      Compose file.
    </p>
  )

export const StackView = ({
  found: { services: all, reasons, links },
}: {
  found: Pick<Plan, 'reasons' | 'links'> & { services: FoundService[] }
}) => (
  <>
    <ul>
      {all.map(({ name, image, context, replicas, web }) => (
        <li>
          <strong>
            <bdi>{name}</bdi>
          </strong>
          : {image === null ? 'built from ' : 'the image '}
          <code>{image ?? context}</code>
          {replicas > 1 && `, ${replicas} containers`}
          {web && ', has the addresses'}
        </li>
      ))}
      {reasons.map((reason) => (
        <li>
          <bdi>{reason}</bdi>
        </li>
      ))}
      {links.map(({ template, reason }) => (
        <li>
          <bdi>{reason}</bdi>. A service of Davit is kept apart from deployments and has its own
          page: <a href={`/services/${template}/configure`}>create {serviceNames[template]}</a>,
          link it, and remove it from the file
        </li>
      ))}
    </ul>
  </>
)

export default {
  title: 'Docusaurus',
  url: 'https://docs.example.com',
  baseUrl: '/',
  presets: [['classic', { docs: { routeBasePath: '/' }, blog: false }]],
}

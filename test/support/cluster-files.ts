/** Tests of several servers, on PostgreSQL and S3. */
export const clusterFiles = [
  'test/{service,media}/cluster-*.test.ts',
  'test/service/{*-nodes,node-processes,postgres-*}.test.ts',
  'test/media/{lost-server,vod-storage-servers}.test.ts',
  'test/browser/{cluster-*,*-nodes}.test.ts',
];

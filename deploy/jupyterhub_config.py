"""A hub for a course: students work in containers made from `deploy/Containerfile`, where all is compiled already.

pip install jupyterhub dockerspawner, then ``jupyterhub -f deploy/jupyterhub_config.py``. Choose an authenticator first.
"""

c = get_config()  # noqa: F821

c.JupyterHub.spawner_class = "dockerspawner.DockerSpawner"
c.DockerSpawner.image = "bai-grading"
c.DockerSpawner.extra_create_kwargs = {"entrypoint": ["jupyterhub-singleuser"], "working_dir": "/home/student"}
c.DockerSpawner.notebook_dir = "/home/student"
c.DockerSpawner.volumes = {"bai-{username}": "/home/student"}
c.DockerSpawner.remove = True
c.DockerSpawner.mem_limit = "2G"
c.DockerSpawner.cpu_limit = 1
c.Spawner.default_url = "/lab"
c.JupyterHub.authenticator_class = "native"

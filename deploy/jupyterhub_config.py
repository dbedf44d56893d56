"""A hub for a course: students work in containers of the image `bai-hub` of `deploy/Containerfile`.

On the machine of the hub: ``pip install "jupyterhub>=5,<6" dockerspawner jupyterhub-nativeauthenticator``, then
``jupyterhub -f deploy/jupyterhub_config.py``. Students sign up, and the user *teacher* lets them in, on the page
*/hub/authorize*. Put your own authenticator in its place if you have one.
"""

from jupyter_client.localinterfaces import public_ips

c = get_config()  # noqa: F821

c.JupyterHub.authenticator_class = "native"
c.Authenticator.admin_users = {"teacher"}
c.Authenticator.allow_all = True  # all whom the teacher has let in
c.JupyterHub.hub_ip = public_ips()[0]  # where the containers find the hub
c.JupyterHub.spawner_class = "dockerspawner.DockerSpawner"
c.DockerSpawner.image = "bai-hub"
c.DockerSpawner.notebook_dir = "/home/student"
c.DockerSpawner.volumes = {"bai-{username}": "/home/student"}
c.DockerSpawner.remove = True
c.DockerSpawner.mem_limit = "2G"
c.DockerSpawner.cpu_limit = 1
c.Spawner.default_url = "/lab"
